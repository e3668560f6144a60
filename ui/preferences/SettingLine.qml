// A setting: its name and what it means on the left, its control on the right.
import QtQuick
import Tandem.Controls
import Tandem.Theme

Item {
    id: line

    required property string title
    property string hint
    default property alias content: slot.data

    width: parent ? parent.width : 0
    implicitHeight: Math.max(words.height, slot.childrenRect.height) + 22

    Column {
        id: words
        anchors.left: parent.left
        anchors.right: slot.left
        anchors.rightMargin: 24
        anchors.verticalCenter: parent.verticalCenter
        spacing: 3
        TextLabel {
            width: parent.width
            text: line.title
            wrapMode: Text.Wrap
            font.weight: Font.Medium
        }
        TextLabel {
            width: parent.width
            visible: text.length > 0
            text: line.hint
            wrapMode: Text.Wrap
            color: Theme.faint
            font.pixelSize: Theme.small
        }
    }
    Item {
        id: slot
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        width: childrenRect.width
        height: childrenRect.height
    }
    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
    }
}
