// A small framed fact; clickable when `actionable`.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

T.Button {
    id: control

    required property string label
    property string name: label
    property string tip
    property color ink: Theme.muted
    property bool actionable: true
    property int widest: 260

    implicitWidth: Math.min(widest, implicitContentWidth + leftPadding + rightPadding)
    implicitHeight: Math.max(26, implicitContentHeight + 10)
    leftPadding: 9
    rightPadding: 9
    focusPolicy: actionable ? Qt.StrongFocus : Qt.TabFocus
    hoverEnabled: true
    Accessible.name: name
    Accessible.description: tip
    Accessible.role: actionable ? Accessible.Button : Accessible.StaticText
    Keys.onReturnPressed: control.clicked()

    contentItem: TextLabel {
        text: control.label
        color: control.ink
        font.pixelSize: Theme.small
        font.weight: Font.Medium
        elide: Text.ElideRight
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
        Accessible.ignored: true
    }
    background: Rectangle {
        radius: 6
        color: control.actionable && control.hovered ? Theme.hover : Theme.raised
        border.color: Theme.line
        FocusRing {
            target: control
            shown: control.visualFocus
        }
    }
    Tip {
        target: control
        text: control.tip
    }
}
