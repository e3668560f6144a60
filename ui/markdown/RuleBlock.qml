// A horizontal rule. Internal to MessageBody.
import QtQuick

Item {
    id: root

    required property MessageStyle style
    readonly property bool rightToLeft: false
    readonly property real firstLineTop: 0

    implicitHeight: 1

    Rectangle {
        width: root.width
        height: 1
        color: root.style.colors.border
        Accessible.role: Accessible.Separator
        Accessible.name: qsTr("Separator")
    }
}
