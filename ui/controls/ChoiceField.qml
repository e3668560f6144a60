// One of a few, all of them in view. Arrow keys choose, as in a group of radio buttons.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

Row {
    id: control

    required property string name
    required property var choices // texts, in order
    property int current: 0

    signal chosen(int index)

    spacing: 6
    Accessible.name: name
    Accessible.role: Accessible.Grouping

    Repeater {
        id: repeater
        model: control.choices
        T.RadioButton {
            id: choice
            required property string modelData
            required property int index
            function step(by: int) {
                const next = repeater.itemAt((index + by + repeater.count) % repeater.count) as T.RadioButton;
                next.forceActiveFocus(Qt.TabFocusReason);
                control.chosen((index + by + repeater.count) % repeater.count);
            }
            implicitWidth: Math.max(72, implicitContentWidth + 28)
            implicitHeight: Math.max(32, implicitContentHeight + 12)
            focusPolicy: index === control.current ? Qt.StrongFocus : Qt.ClickFocus
            hoverEnabled: true
            checked: index === control.current
            Accessible.name: control.name + ": " + modelData
            Accessible.role: Accessible.RadioButton
            Accessible.checkable: true
            Accessible.checked: checked
            onClicked: control.chosen(index)
            Keys.onLeftPressed: step(-1)
            Keys.onRightPressed: step(1)
            contentItem: TextLabel {
                text: choice.modelData
                horizontalAlignment: Text.AlignHCenter
                verticalAlignment: Text.AlignVCenter
                color: choice.checked ? Theme.accentInk : choice.hovered ? Theme.text : Theme.muted
                font.weight: choice.checked ? Font.DemiBold : Font.Normal
                Accessible.ignored: true
            }
            background: Rectangle {
                color: choice.checked ? Theme.accentSoft : choice.hovered ? Theme.hover : "transparent"
                border.color: choice.checked ? Theme.accent : Theme.line
                radius: 8
                FocusRing {
                    target: choice
                    shown: choice.visualFocus
                }
            }
        }
    }
}
