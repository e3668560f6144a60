// What holds for the whole program. Every change counts at once and is kept.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: view

    required property AppSettings settings

    Flickable {
        id: flick
        anchors.fill: parent
        contentHeight: column.height + 72
        boundsBehavior: Flickable.StopAtBounds
        T.ScrollBar.vertical: ScrollHandle {}

        Column {
            id: column
            anchors.horizontalCenter: parent.horizontalCenter
            y: 36
            width: Math.min(Theme.column, flick.width - 56)

            TextLabel {
                text: qsTr("Settings")
                font.pixelSize: Theme.large
                font.weight: Font.DemiBold
                Accessible.role: Accessible.Heading
            }
            SectionTitle {
                text: qsTr("Look")
            }
            SettingLine {
                title: qsTr("Theme")
                ChoiceField {
                    objectName: "themeChoice"
                    focus: true
                    name: qsTr("Theme")
                    choices: [qsTr("System"), qsTr("Light"), qsTr("Dark")]
                    current: view.settings.theme
                    onChosen: index => view.settings.theme = index
                }
            }
            SettingLine {
                title: qsTr("Text size")
                SliderField {
                    objectName: "textSizeSlider"
                    name: qsTr("Text size")
                    from: 80
                    to: 160
                    stepSize: 5
                    decimals: 0
                    unit: qsTr(" %")
                    value: Math.round(view.settings.textScale * 100)
                    onMoved: value => view.settings.textScale = value / 100
                }
            }
            SettingLine {
                title: qsTr("Show where tokens came from")
                hint: qsTr("Tints text that was drafted ahead and confirmed by the model.")
                SwitchField {
                    name: qsTr("Show where tokens came from")
                    checked: view.settings.tintOrigins
                    onToggled: view.settings.tintOrigins = checked
                }
            }
            SectionTitle {
                text: qsTr("Engine")
            }
            SettingLine {
                title: qsTr("Threads")
                hint: qsTr("Automatic measures the best number when a model is opened. A change opens the model again.")
                SliderField {
                    id: threads
                    objectName: "threadsSlider"
                    name: qsTr("Threads")
                    from: 0
                    to: 32
                    stepSize: 1
                    decimals: 0
                    zeroText: qsTr("automatic")
                    value: view.settings.threads
                    onMoved: value => threadsTimer.restart()
                    Timer {
                        id: threadsTimer
                        interval: 700
                        onTriggered: view.settings.threads = threads.value
                    }
                }
            }
            SettingLine {
                title: qsTr("Draft ahead")
                hint: qsTr("Speculation: guesses tokens from the text so far and checks them together. The text stays the same.")
                SwitchField {
                    objectName: "speculationDefault"
                    name: qsTr("Draft ahead")
                    checked: view.settings.speculation
                    onToggled: view.settings.speculation = checked
                }
            }
            SettingLine {
                title: qsTr("Response cache")
                hint: qsTr("Answers a greedy request that is the same to the last token with the answer it got before, without the model. Such answers have no speed.")
                SwitchField {
                    objectName: "responseCacheSwitch"
                    name: qsTr("Response cache")
                    checked: view.settings.responseCache
                    onToggled: view.settings.responseCache = checked
                }
            }
            SectionTitle {
                text: qsTr("Caches of texts")
            }
            SettingLine {
                title: qsTr("Memory")
                hint: qsTr("For texts that were read, of the model that is open. Automatic is an eighth of what is free, at most 1 GiB. Counts at once.")
                SliderField {
                    id: cacheMemory
                    objectName: "cacheMemorySlider"
                    name: qsTr("Memory for texts that were read")
                    from: 0
                    to: 16
                    stepSize: 0.25
                    zeroText: qsTr("automatic")
                    unit: qsTr(" GiB")
                    value: view.settings.cacheMemoryGib
                    onMoved: value => cacheMemoryTimer.restart()
                    Timer {
                        id: cacheMemoryTimer
                        interval: 700
                        onTriggered: view.settings.cacheMemoryGib = cacheMemory.value
                    }
                }
            }
            SettingLine {
                title: qsTr("Keep texts on disk")
                hint: qsTr("Conversations then go on without being read anew also after a restart. Off: what is there stays and is not used. Counts at once.")
                SwitchField {
                    objectName: "cacheDiskSwitch"
                    name: qsTr("Keep texts on disk")
                    checked: view.settings.cacheOnDisk
                    onToggled: view.settings.cacheOnDisk = checked
                }
            }
            SettingLine {
                title: qsTr("Disk")
                hint: qsTr("For the texts of all models. What was used longest ago goes first; less room counts at once.")
                SliderField {
                    id: cacheDisk
                    objectName: "cacheDiskSlider"
                    name: qsTr("Disk space for texts that were read")
                    from: 1
                    to: 64
                    stepSize: 1
                    decimals: 0
                    unit: qsTr(" GiB")
                    enabled: view.settings.cacheOnDisk
                    opacity: enabled ? 1 : 0.5
                    value: view.settings.cacheDiskGib
                    onMoved: value => cacheDiskTimer.restart()
                    Timer {
                        id: cacheDiskTimer
                        interval: 700
                        onTriggered: view.settings.cacheDiskGib = cacheDisk.value
                    }
                }
            }
            SettingLine {
                title: qsTr("Remember the ends of answers")
                hint: qsTr("Models with a state (hybrids) then go on right behind an answer. Counts from the next answer on.")
                SwitchField {
                    objectName: "cacheEndAnchorSwitch"
                    name: qsTr("Remember the ends of answers")
                    checked: view.settings.cacheEndAnchor
                    onToggled: view.settings.cacheEndAnchor = checked
                }
            }
            SettingLine {
                title: qsTr("Snapshot every")
                hint: qsTr("Tokens between two states that are kept of such a model. Fewer take more memory and go on from nearer places. Counts from the next text on.")
                ChoiceField {
                    objectName: "cacheGridChoice"
                    readonly property var grids: [256, 1024, 4096]
                    name: qsTr("Snapshot every")
                    choices: grids.map(grid => Number(grid).toLocaleString(Qt.locale(), "f", 0))
                    current: grids.indexOf(view.settings.cacheGrid)
                    onChosen: index => view.settings.cacheGrid = grids[index]
                }
            }
            SectionTitle {
                text: qsTr("New conversations")
            }
            SettingLine {
                title: qsTr("Temperature")
                hint: qsTr("Greedy takes the most likely token each time; higher is more varied.")
                SliderField {
                    name: qsTr("Temperature")
                    from: 0
                    to: 2
                    stepSize: 0.05
                    zeroText: qsTr("greedy")
                    value: view.settings.temperature
                    onMoved: value => view.settings.temperature = value
                }
            }
            SettingLine {
                title: qsTr("Top k")
                SliderField {
                    name: qsTr("Top k")
                    from: 0
                    to: 200
                    stepSize: 1
                    decimals: 0
                    zeroText: qsTr("no limit")
                    value: view.settings.topK
                    onMoved: value => view.settings.topK = value
                }
            }
            SettingLine {
                title: qsTr("Top p")
                SliderField {
                    name: qsTr("Top p")
                    from: 0.05
                    to: 1
                    stepSize: 0.05
                    fullText: qsTr("no limit")
                    value: view.settings.topP
                    onMoved: value => view.settings.topP = value
                }
            }
            SettingLine {
                title: qsTr("Min p")
                SliderField {
                    name: qsTr("Min p")
                    from: 0
                    to: 1
                    stepSize: 0.01
                    zeroText: qsTr("no limit")
                    value: view.settings.minP
                    onMoved: value => view.settings.minP = value
                }
            }
            SettingLine {
                title: qsTr("Regenerate varies")
                hint: qsTr("A regenerated answer is sampled with temperature 0.7, top p 0.95, top k 20 and a fresh seed. Off: it repeats with the conversation's own sampling.")
                SwitchField {
                    name: qsTr("Regenerate varies")
                    checked: view.settings.regenerateSamples
                    onToggled: view.settings.regenerateSamples = checked
                }
            }
            FieldTitle {
                text: qsTr("System prompt")
                bottomPadding: 6
            }
            TextBox {
                objectName: "defaultSystemPrompt"
                width: parent.width
                implicitHeight: 110
                name: qsTr("System prompt of new conversations")
                hint: qsTr("Told to the model before every new conversation")
                text: view.settings.systemPrompt
                onEdited: view.settings.systemPrompt = text
            }
        }
    }
}
