// A tip that appears beside a control under the pointer or with the keyboard's focus.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

T.ToolTip {
    id: tip

    required property T.Control target

    parent: target
    visible: text.length > 0 && (target.hovered || target.visualFocus)
    delay: 600
    timeout: 6000
    x: Math.round((target.width - width) / 2)
    y: target.height + 6
    margins: 8
    implicitWidth: Math.min(360, implicitContentWidth + leftPadding + rightPadding)
    implicitHeight: implicitContentHeight + topPadding + bottomPadding
    leftPadding: 10
    rightPadding: 10
    topPadding: 6
    bottomPadding: 6
    closePolicy: T.Popup.CloseOnEscape | T.Popup.CloseOnPressOutsideParent

    contentItem: TextLabel {
        text: tip.text
        font.pixelSize: Theme.small
        wrapMode: Text.Wrap
    }
    background: Rectangle {
        radius: 8
        color: Theme.raised
        border.color: Theme.line
    }
}
