// A rule between two blocks. Internal to MessageBody.
import QtQuick

Rectangle {
    required property Block block

    implicitHeight: 1
    color: block.style.colors.border
    Accessible.role: Accessible.Separator
    Accessible.name: qsTr("Separator")
}
