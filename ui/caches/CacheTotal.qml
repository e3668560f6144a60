// What one tier holds beside its budget.
import QtQuick
import Tandem.Controls
import Tandem.Theme

Rectangle {
    id: card

    required property string title
    required property string amount
    required property string hint
    property real share: 0 // 0 to 1
    property bool inUse: true

    implicitHeight: column.height + 28
    radius: 14
    color: Theme.raised
    border.color: Theme.line

    Column {
        id: column
        x: 16
        y: 14
        width: parent.width - 32
        spacing: 8
        Item {
            width: parent.width
            height: Math.max(name.height, size.height)
            TextLabel {
                id: name
                text: card.title
                font.weight: Font.DemiBold
            }
            TextLabel {
                id: size
                anchors.right: parent.right
                width: parent.width - name.width - 12
                horizontalAlignment: Text.AlignRight
                elide: Text.ElideLeft
                text: card.amount
                color: card.inUse ? Theme.text : Theme.faint
            }
        }
        Meter {
            width: parent.width
            name: card.title
            value: card.share
            opacity: card.inUse ? 1 : 0.5
        }
        TextLabel {
            width: parent.width
            wrapMode: Text.Wrap
            text: card.hint
            color: Theme.faint
            font.pixelSize: Theme.small
        }
    }
}
