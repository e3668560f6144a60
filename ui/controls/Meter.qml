// A thin bar that shows a share of a whole, and what would be added to it.
import QtQuick
import Tandem.Theme

Item {
    id: control

    required property string name
    property real value: 0 // 0 to 1
    property real after: 0 // 0 to 1; drawn behind `value`

    implicitWidth: 110
    implicitHeight: 5
    Accessible.role: Accessible.ProgressBar
    Accessible.name: name

    Rectangle {
        anchors.fill: parent
        radius: height / 2
        color: Theme.line
    }
    Rectangle {
        width: Math.min(1, Math.max(control.after, control.value)) * parent.width
        height: parent.height
        radius: height / 2
        color: Theme.accent
        opacity: 0.4
    }
    Rectangle {
        width: control.value <= 0 ? 0 : Math.max(height, Math.min(1, control.value) * parent.width)
        height: parent.height
        radius: height / 2
        color: control.value > 0.9 ? Theme.warning : Theme.accent
    }
}
