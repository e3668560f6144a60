// On or off.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

T.Switch {
    id: control

    required property string name

    implicitWidth: 40
    implicitHeight: 24
    focusPolicy: Qt.StrongFocus
    hoverEnabled: true
    Accessible.name: name
    Accessible.role: Accessible.CheckBox
    Accessible.checkable: true
    Accessible.checked: checked

    indicator: Rectangle {
        anchors.fill: parent
        radius: height / 2
        color: control.checked ? Theme.accentFill : Theme.control
        Rectangle {
            x: control.checked ? parent.width - width - 3 : 3
            y: 3
            width: 18
            height: 18
            radius: 9
            color: "#ffffff"
            Behavior on x {
                NumberAnimation {
                    duration: Theme.quick
                }
            }
        }
        FocusRing {
            target: control
            shown: control.visualFocus
            gap: 3
            radius: 16
        }
    }
}
