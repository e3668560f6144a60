// One view of the rail: its icon with its name below.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.Button {
    id: control

    required property string label
    required property string iconName
    required property string keys
    property bool current: false
    readonly property color ink: current ? Theme.accentInk : hovered ? Theme.text : Theme.muted

    implicitWidth: 66
    implicitHeight: Math.max(46, implicitContentHeight + 32)
    focusPolicy: Qt.StrongFocus
    hoverEnabled: true
    Accessible.name: label
    Accessible.role: Accessible.PageTab
    Accessible.selected: current
    Keys.onReturnPressed: control.clicked()

    contentItem: Item {
        implicitHeight: children[1].implicitHeight
        Icon {
            anchors.horizontalCenter: parent.horizontalCenter
            y: 5
            width: 20
            height: 20
            name: control.iconName
            color: control.ink
        }
        TextLabel {
            anchors.horizontalCenter: parent.horizontalCenter
            anchors.bottom: parent.bottom
            anchors.bottomMargin: 3
            text: control.label
            color: control.ink
            font.pixelSize: Theme.tiny
            font.weight: control.current ? Font.DemiBold : Font.Medium
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: 10
        color: control.current ? Theme.accentSoft : control.hovered ? Theme.hover : "transparent"
        FocusRing {
            target: control
            shown: control.visualFocus
            gap: 0
        }
    }
    Tip {
        target: control
        text: control.keys
    }
}
