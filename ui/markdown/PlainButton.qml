// A small text button that treats its text as plain. Internal to MessageBody.
import QtQuick
import QtQuick.Templates as T

T.AbstractButton {
    id: root

    required property MessageStyle style

    implicitWidth: implicitContentWidth + leftPadding + rightPadding
    implicitHeight: implicitContentHeight + topPadding + bottomPadding
    leftPadding: 8
    rightPadding: 8
    topPadding: 4
    bottomPadding: 4
    hoverEnabled: true
    Accessible.name: text

    contentItem: Text {
        text: root.text
        textFormat: Text.PlainText
        font.family: root.style.textFamily
        font.pixelSize: Math.round(root.style.textSize * 0.76)
        font.weight: Font.Medium
        color: root.hovered || root.visualFocus ? root.style.colors.text : root.style.colors.mutedText
        verticalAlignment: Text.AlignVCenter
    }

    background: Rectangle {
        radius: 5
        color: root.down || root.hovered ? root.style.colors.hover : "transparent"
        border.width: root.visualFocus ? 2 : 0
        border.color: root.style.colors.focus
    }
}
