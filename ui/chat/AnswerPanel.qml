// How the answers of this conversation are made: its system prompt and sampling. Changes count from the next
// answer on.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: panel

    required property Chat chat

    signal closed

    function apply() {
        chat.configure(temperature.value, topK.value, topP.value, minP.value, seed.text, parseInt(limit.text) || 0,
                       speculation.checked);
    }

    Keys.onEscapePressed: closed()
    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("System prompt and sampling")

    Rectangle {
        anchors.fill: parent
        color: Theme.panel
        Rectangle {
            width: 1
            height: parent.height
            color: Theme.line
        }
    }
    Flickable {
        id: flick
        anchors.fill: parent
        contentHeight: column.height + 40
        boundsBehavior: Flickable.StopAtBounds
        clip: true
        T.ScrollBar.vertical: ScrollHandle {}

        Column {
            id: column
            x: 20
            y: 16
            width: flick.width - 40
            spacing: 6

            Item {
                width: parent.width
                height: 32
                TextLabel {
                    anchors.verticalCenter: parent.verticalCenter
                    text: qsTr("This conversation")
                    font.pixelSize: Theme.title
                    font.weight: Font.DemiBold
                    Accessible.role: Accessible.Heading
                }
                IconButton {
                    anchors.right: parent.right
                    name: qsTr("Close the panel")
                    iconName: "close"
                    iconSize: 15
                    onClicked: panel.closed()
                }
            }
            FieldTitle {
                text: qsTr("System prompt")
            }
            TextBox {
                id: prompt
                objectName: "systemPromptBox"
                width: parent.width
                implicitHeight: 110
                name: qsTr("System prompt")
                hint: qsTr("Told to the model before the conversation")
                text: panel.chat.systemPrompt
                onEdited: if (text !== panel.chat.systemPrompt)
                    panel.chat.setSystemPrompt(text)
            }
            FieldTitle {
                text: qsTr("Temperature")
            }
            SliderField {
                id: temperature
                objectName: "temperatureSlider"
                width: parent.width
                name: qsTr("Temperature")
                from: 0
                to: 2
                stepSize: 0.05
                zeroText: qsTr("greedy")
                value: panel.chat.temperature
                onMoved: panel.apply()
            }
            FieldTitle {
                text: qsTr("Top k")
            }
            SliderField {
                id: topK
                width: parent.width
                enabled: temperature.value > 0
                name: qsTr("Top k")
                from: 0
                to: 200
                stepSize: 1
                decimals: 0
                zeroText: qsTr("no limit")
                value: panel.chat.topK
                onMoved: panel.apply()
            }
            FieldTitle {
                text: qsTr("Top p")
            }
            SliderField {
                id: topP
                width: parent.width
                enabled: temperature.value > 0
                name: qsTr("Top p")
                from: 0.05
                to: 1
                stepSize: 0.05
                fullText: qsTr("no limit")
                value: panel.chat.topP
                onMoved: panel.apply()
            }
            FieldTitle {
                text: qsTr("Min p")
            }
            SliderField {
                id: minP
                width: parent.width
                enabled: temperature.value > 0
                name: qsTr("Min p")
                from: 0
                to: 1
                stepSize: 0.01
                zeroText: qsTr("no limit")
                value: panel.chat.minP
                onMoved: panel.apply()
            }
            FieldTitle {
                text: qsTr("Seed")
            }
            LineField {
                id: seed
                width: parent.width
                enabled: temperature.value > 0
                name: qsTr("Seed")
                hint: qsTr("fresh each time")
                text: panel.chat.seed
                validator: RegularExpressionValidator {
                    regularExpression: /[0-9]{0,19}/
                }
                onEditingFinished: panel.apply()
            }
            FieldTitle {
                text: qsTr("Longest answer, in tokens")
            }
            LineField {
                id: limit
                width: parent.width
                name: qsTr("Longest answer, in tokens")
                hint: qsTr("until the context is full")
                text: panel.chat.maxTokens > 0 ? panel.chat.maxTokens : ""
                validator: RegularExpressionValidator {
                    regularExpression: /[0-9]{0,6}/
                }
                onEditingFinished: panel.apply()
            }
            Item {
                width: 1
                height: 6
            }
            Item {
                width: parent.width
                height: Math.max(speculation.height, drafting.implicitHeight)
                TextLabel {
                    id: drafting
                    anchors.verticalCenter: parent.verticalCenter
                    width: parent.width - speculation.width - 12
                    text: qsTr("Draft ahead (same text, sooner)")
                    wrapMode: Text.Wrap
                }
                SwitchField {
                    id: speculation
                    objectName: "speculationSwitch"
                    anchors.right: parent.right
                    anchors.verticalCenter: parent.verticalCenter
                    name: qsTr("Draft ahead")
                    checked: panel.chat.speculation
                    onToggled: panel.apply()
                }
            }
        }
    }
    Connections {
        target: panel.chat
        // The controls' own values have replaced their bindings once they were moved.
        function onSettingsChanged() {
            prompt.text = panel.chat.systemPrompt;
            temperature.value = panel.chat.temperature;
            topK.value = panel.chat.topK;
            topP.value = panel.chat.topP;
            minP.value = panel.chat.minP;
            seed.text = panel.chat.seed;
            limit.text = panel.chat.maxTokens > 0 ? panel.chat.maxTokens : "";
            speculation.checked = panel.chat.speculation;
        }
    }
}
