// What a newcomer sees: how to get a model when there is none, else a few things to try.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

Item {
    id: view

    required property ModelLibrary models
    readonly property var prompts: models.completionMode ? [
        qsTr("The history of bread begins"),
        qsTr("Three things every sailor knows:\n1."),
        qsTr("Once upon a time, in a small house by the sea,"),
        qsTr("A hash table is")
    ] : [
        qsTr("What is the capital of Australia?"),
        qsTr("Explain what a hash table is, with an example."),
        qsTr("Write a short letter of thanks to a neighbour."),
        qsTr("Write a C++ function that returns the index of the largest element.")
    ]

    signal promptChosen(text: string)
    signal modelsWanted

    Column {
        anchors.centerIn: parent
        width: Math.min(Theme.column, parent.width - 48)
        spacing: 20

        Icon {
            anchors.horizontalCenter: parent.horizontalCenter
            width: 40
            height: 40
            stroke: 1.2
            name: "spark"
            color: Theme.accent
        }
        TextLabel {
            objectName: "emptyHeading"
            width: parent.width
            horizontalAlignment: Text.AlignHCenter
            wrapMode: Text.Wrap
            text: view.models.ready ? qsTr("What shall we write?")
                                    : view.models.loading ? qsTr("Opening %1…").arg(view.models.loadingName)
                                                          : qsTr("First, a model")
            font.pixelSize: Theme.large
            font.weight: Font.DemiBold
            Accessible.role: Accessible.Heading
        }
        TextLabel {
            width: parent.width
            horizontalAlignment: Text.AlignHCenter
            wrapMode: Text.Wrap
            text: view.models.ready
                  ? qsTr("Everything runs on this machine; nothing you write leaves it.")
                  : view.models.loading
                    ? qsTr("You can start writing: your message is answered as soon as the model is there.")
                    : qsTr("Tandem runs language models stored as GGUF files. Open one from your disk, or put it into\n%1").arg(view.models.folder)
            color: Theme.muted
            font.pixelSize: Theme.body
        }
        Meter {
            anchors.horizontalCenter: parent.horizontalCenter
            width: 240
            visible: view.models.loading
            name: qsTr("Loading the model")
            value: view.models.progress
        }
        TextButton {
            objectName: "emptyOpenModel"
            anchors.horizontalCenter: parent.horizontalCenter
            visible: !view.models.ready && !view.models.loading
            strong: true
            label: qsTr("Choose a model")
            size: Theme.medium
            onClicked: view.modelsWanted()
        }
        // A positioner and a fixed number of cards: a GridLayout of Qt 6.4 crashes when its items are replaced.
        Grid {
            id: cards
            width: parent.width
            visible: view.models.ready
            columns: width > 520 ? 2 : 1
            spacing: 12
            Repeater {
                model: 4
                T.Button {
                    id: card
                    required property int index
                    readonly property string prompt: view.prompts[index]
                    objectName: "prompt" + index
                    width: (cards.width - (cards.columns - 1) * cards.spacing) / cards.columns
                    height: Math.round(2 * 1.25 * Theme.medium) + 28
                    focusPolicy: Qt.StrongFocus
                    hoverEnabled: true
                    leftPadding: 16
                    rightPadding: 16
                    Accessible.name: qsTr("Try: %1").arg(prompt)
                    Accessible.role: Accessible.Button
                    Keys.onReturnPressed: card.clicked()
                    onClicked: view.promptChosen(prompt)
                    contentItem: TextLabel {
                        text: card.prompt
                        wrapMode: Text.Wrap
                        maximumLineCount: 2
                        elide: Text.ElideRight
                        verticalAlignment: Text.AlignVCenter
                        color: card.hovered ? Theme.text : Theme.muted
                        Accessible.ignored: true
                    }
                    background: Rectangle {
                        radius: 12
                        color: card.hovered ? Theme.hover : Theme.raised
                        border.color: Theme.line
                        FocusRing {
                            target: card
                            shown: card.visualFocus
                            radius: 13
                        }
                    }
                }
            }
        }
    }
}
