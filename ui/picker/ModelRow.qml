// One model file of the folder.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.ItemDelegate {
    id: row

    required property real progress
    required property string name
    required property string path
    required property string size
    required property bool current
    required property bool loading

    signal chosen

    objectName: "modelRow"
    implicitHeight: Math.max(52, implicitContentHeight + 22)
    focusPolicy: Qt.StrongFocus
    hoverEnabled: true
    Accessible.name: name + ", " + (current ? qsTr("%1, open").arg(size) : size)
    Accessible.role: Accessible.ListItem
    Keys.onReturnPressed: row.clicked()
    onClicked: if (!current)
        chosen()

    contentItem: Item {
        implicitHeight: children[1].implicitHeight
        Icon {
            x: 16
            anchors.verticalCenter: parent.verticalCenter
            width: 20
            height: 20
            name: "models"
            color: row.current ? Theme.accent : Theme.muted
        }
        Column {
            x: 50
            width: parent.width - 50 - 150
            anchors.verticalCenter: parent.verticalCenter
            spacing: 2
            TextLabel {
                width: parent.width
                text: row.name
                elide: Text.ElideMiddle
                font.weight: Font.Medium
                Accessible.ignored: true
            }
            TextLabel {
                text: row.size
                color: Theme.faint
                font.pixelSize: Theme.tiny
                Accessible.ignored: true
            }
        }
        TextLabel {
            anchors.right: parent.right
            anchors.rightMargin: 16
            anchors.verticalCenter: parent.verticalCenter
            text: row.loading ? qsTr("opening… %1 %").arg(Math.round(row.progress * 100))
                              : row.current ? qsTr("open") : qsTr("Open")
            color: row.current && !row.loading ? Theme.good : Theme.accentInk
            font.pixelSize: Theme.small
            font.weight: Font.Medium
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: 12
        color: row.hovered ? Theme.hover : "transparent"
        border.color: row.current ? Theme.accent : Theme.line
        FocusRing {
            target: row
            shown: row.visualFocus
            radius: 13
        }
    }
}
