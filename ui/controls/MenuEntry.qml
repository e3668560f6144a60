// One line of a PopupMenu.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

T.MenuItem {
    id: entry

    required property string label
    property string iconName
    property string keys
    property bool danger: false

    implicitWidth: 178
    implicitHeight: Math.max(32, words.implicitHeight + 12)
    Accessible.name: label
    Accessible.role: Accessible.MenuItem

    contentItem: Item {
        Icon {
            id: picture
            x: 8
            anchors.verticalCenter: parent.verticalCenter
            width: 16
            height: 16
            name: entry.iconName
            color: words.color
        }
        TextLabel {
            id: words
            anchors.left: picture.right
            anchors.leftMargin: 10
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
