// One line of a PopupMenu.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.MenuItem {
    id: entry

    required property string label
    property string iconName
    property string keys
    property bool danger: false

    implicitWidth: 178
    implicitHeight: Math.max(32, implicitContentHeight + 12)
    Accessible.name: label
    Accessible.role: Accessible.MenuItem

    contentItem: Item {
        implicitHeight: children[1].implicitHeight
        Icon {
            x: 8
            anchors.verticalCenter: parent.verticalCenter
            width: 16
            height: 16
            name: entry.iconName
            color: entry.danger ? Theme.danger : Theme.text
        }
        TextLabel {
            x: 34
            anchors.verticalCenter: parent.verticalCenter
            text: entry.label
            color: entry.danger ? Theme.danger : Theme.text
            Accessible.ignored: true
        }
        TextLabel {
            anchors.right: parent.right
            anchors.rightMargin: 10
            anchors.verticalCenter: parent.verticalCenter
            text: entry.keys
            color: Theme.faint
            font.pixelSize: Theme.tiny
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: 7
        color: entry.highlighted ? Theme.hover : "transparent"
    }
}
