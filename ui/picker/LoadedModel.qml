// What is loaded, or being loaded.
import QtQuick
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

Rectangle {
    id: card

    required property ModelLibrary models

    signal done

    visible: models.ready || models.loading
    implicitHeight: column.height + 32
    radius: 14
    color: Theme.raised
    border.color: Theme.line

    Column {
        id: column
        x: 18
        y: 16
        width: parent.width - 36
        spacing: 8
        Item {
            width: parent.width
            height: Math.max(title.implicitHeight, 32)
            TextLabel {
                id: title
                objectName: "loadedTitle"
                anchors.verticalCenter: parent.verticalCenter
                width: parent.width - (chatButton.visible ? chatButton.width + 12 : 0)
                elide: Text.ElideRight
                text: card.models.loading ? qsTr("Opening %1…").arg(card.models.loadingName) : card.models.label
                font.pixelSize: Theme.title
                font.weight: Font.DemiBold
            }
            TextButton {
                id: chatButton
                objectName: "toChatButton"
                anchors.right: parent.right
                visible: card.models.ready && !card.models.loading
                strong: true
                label: qsTr("Chat")
                size: Theme.medium
                onClicked: card.done()
            }
        }
        Meter {
            width: parent.width
            visible: card.models.loading
            name: qsTr("Loading the model")
            value: card.models.progress
        }
        TextLabel {
            width: parent.width
            visible: card.models.ready && !card.models.loading
            wrapMode: Text.Wrap
            text: card.models.details
            color: Theme.muted
            font.pixelSize: Theme.small
        }
        TextLabel {
            width: parent.width
            visible: card.models.ready && !card.models.loading
            wrapMode: Text.Wrap
            text: card.models.completionMode
                  ? qsTr("No chat template: opens in completion mode and continues your text as it stands.")
                  : qsTr("Has a chat template. An answer ends at: %1").arg(card.models.endTokens)
            color: Theme.muted
            font.pixelSize: Theme.small
        }
        TextLabel {
            width: parent.width
            visible: card.models.ready && !card.models.loading
            wrapMode: Text.WrapAnywhere
            text: card.models.path
            color: Theme.faint
            font.pixelSize: Theme.tiny
            font.family: Theme.codeFamily
        }
    }
}
