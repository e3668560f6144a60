// A square button that shows one icon; its name is read to a screen reader and shown as a tip.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.Button {
    id: control

    required property string name
    required property string iconName
    property color iconColor: hovered || activeFocus ? Theme.text : Theme.muted
    property int iconSize: 18
    property bool accent: false
    property string tip: name

    implicitWidth: 32
    implicitHeight: 32
    focusPolicy: Qt.StrongFocus
    hoverEnabled: true
    opacity: enabled ? 1 : 0.4
    Accessible.name: name
    Accessible.role: Accessible.Button
    Keys.onReturnPressed: control.clicked()
    Keys.onEnterPressed: control.clicked()

    contentItem: Item {
        Icon {
            anchors.centerIn: parent
            width: control.iconSize
            height: control.iconSize
            name: control.iconName
            color: control.accent ? Theme.accentText : control.iconColor
        }
    }
    background: Rectangle {
        radius: 8
        color: control.accent ? (control.hovered ? Theme.accentHover : Theme.accentFill)
                              : control.down ? Theme.pressed
                                             : control.hovered || control.checked ? Theme.hover : "transparent"
        FocusRing {
            target: control
            shown: control.visualFocus
            gap: control.accent ? 3 : 0
        }
    }
    Tip {
        target: control
        text: control.tip
    }
}
