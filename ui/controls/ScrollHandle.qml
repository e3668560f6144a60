// A slim scroll bar that shows while it is of use.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

T.ScrollBar {
    id: control

    implicitWidth: 10
    implicitHeight: 10
    padding: 2
    minimumSize: 0.06
    visible: size < 1.0 && policy !== T.ScrollBar.AlwaysOff
    Accessible.name: qsTr("Scroll bar")

    contentItem: Rectangle {
        implicitWidth: 6
        implicitHeight: 6
        radius: 3
        color: Theme.control
        opacity: control.pressed ? 1 : control.active || control.hovered ? 0.8 : 0.35
        Behavior on opacity {
            NumberAnimation {
                duration: Theme.quick
            }
        }
    }
}
