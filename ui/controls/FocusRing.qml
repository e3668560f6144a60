// Drawn around the control that has the keyboard's focus.
import QtQuick
import Tandem.Theme

Rectangle {
    required property Item target
    property bool shown: target.activeFocus
    property int gap: 2

    anchors.fill: parent
    anchors.margins: -gap
    radius: Theme.radius
    color: "transparent"
    border.width: 2
    border.color: Theme.focus
    visible: shown
}
