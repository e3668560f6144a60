// "‹ 2 / 3 ›": the versions of a message, when there are several.
import QtQuick
import Tandem.Controls
import Tandem.Theme

Row {
    id: control

    required property MessageCell row

    visible: row.versionCount > 1
    spacing: 0

    IconButton {
        objectName: "versionBefore"
        implicitWidth: 24
        implicitHeight: 26
        iconSize: 13
        name: qsTr("Version before")
        iconName: "left"
        enabled: control.row.version > 1
        onClicked: control.row.session.chat.stepVersion(control.row.messageId, -1)
    }
    TextLabel {
        objectName: "versionText"
        anchors.verticalCenter: parent.verticalCenter
        text: qsTr("%1 / %2").arg(control.row.version).arg(control.row.versionCount)
        color: Theme.muted
        font.pixelSize: Theme.small
        font.weight: Font.Medium
        Accessible.name: qsTr("Version %1 of %2").arg(control.row.version).arg(control.row.versionCount)
    }
    IconButton {
        objectName: "versionNext"
        implicitWidth: 24
        implicitHeight: 26
        iconSize: 13
        name: qsTr("Next version")
        iconName: "right"
        enabled: control.row.version < control.row.versionCount
        onClicked: control.row.session.chat.stepVersion(control.row.messageId, 1)
    }
}
