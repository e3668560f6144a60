// A quiet button of words, with an icon before them if one is given. `strong` fills it with the accent colour,
// `outlined` gives it a border.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.Button {
    id: control

    required property string label
    property string iconName
    property bool strong: false
    property bool outlined: false
    property bool danger: false
    property bool accent: false
    property real size: Theme.small
    readonly property color ink: strong ? Theme.accentText
                                        : danger ? Theme.danger
                                                 : accent ? Theme.accentInk
                                                                : hovered || activeFocus ? Theme.text : Theme.muted

    implicitWidth: implicitContentWidth + leftPadding + rightPadding
    implicitHeight: Math.max(strong || outlined ? 32 : 26, implicitContentHeight + 8)
    leftPadding: strong || outlined ? 14 : 8
    rightPadding: leftPadding
    focusPolicy: Qt.StrongFocus
    hoverEnabled: true
    opacity: enabled ? 1 : 0.45
    Accessible.name: label
    Accessible.role: Accessible.Button
    Keys.onReturnPressed: control.clicked()
    Keys.onEnterPressed: control.clicked()

    contentItem: Item {
        implicitWidth: children[0].implicitWidth
        implicitHeight: children[0].implicitHeight
        Row {
            anchors.centerIn: parent
            spacing: 6
            Icon {
                anchors.verticalCenter: parent.verticalCenter
                visible: control.iconName.length > 0
                width: 15
                height: 15
                name: control.iconName
                color: control.ink
            }
            TextLabel {
                anchors.verticalCenter: parent.verticalCenter
                text: control.label
                color: control.ink
                font.pixelSize: control.size
                font.weight: control.strong ? Font.DemiBold : Font.Medium
                Accessible.ignored: true
            }
        }
    }
    background: Rectangle {
        radius: 8
        color: control.strong ? (control.down || control.hovered ? Theme.accentHover : Theme.accentFill)
                              : control.down ? Theme.pressed
                                             : control.hovered ? Theme.hover : "transparent"
        border.width: control.outlined ? 1 : 0
        border.color: Theme.control
        FocusRing {
            target: control
            shown: control.visualFocus
            gap: control.strong ? 3 : 0
        }
    }
}
