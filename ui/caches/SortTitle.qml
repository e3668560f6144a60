// The title of a column of figures; pressed, it sorts by them.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.Button {
    id: control

    required property string label
    property bool current: false
    property bool descending: true

    implicitHeight: Math.max(28, implicitContentHeight + 10)
    focusPolicy: Qt.StrongFocus
    hoverEnabled: true
    Accessible.name: !current ? qsTr("Sort by %1").arg(label)
                              : descending ? qsTr("Sorted by %1, largest first").arg(label)
                                           : qsTr("Sorted by %1, smallest first").arg(label)
    Accessible.role: Accessible.Button
    Keys.onReturnPressed: control.clicked()
    Keys.onEnterPressed: control.clicked()

    contentItem: Item {
        implicitHeight: children[0].implicitHeight
        Row {
            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            spacing: 2
            Icon {
                anchors.verticalCenter: parent.verticalCenter
                visible: control.current
                width: 13
                height: 13
                name: control.descending ? "descending" : "ascending"
                color: Theme.accentInk
            }
            TextLabel {
                text: control.label
                color: control.current ? Theme.accentInk : control.hovered ? Theme.text : Theme.faint
                font.pixelSize: Theme.small
                font.weight: control.current ? Font.DemiBold : Font.Medium
                Accessible.ignored: true
            }
        }
    }
    background: Rectangle {
        anchors.fill: parent
        anchors.leftMargin: -4
        anchors.rightMargin: -6
        radius: 7
        color: control.hovered ? Theme.hover : "transparent"
        FocusRing {
            target: control
            shown: control.visualFocus
            gap: 0
        }
    }
}
