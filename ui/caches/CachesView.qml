// Every entry of the caches of texts, in memory and on disk, with its proof. Up and Down move, Return proves
// or stops a proof, Delete drops. The list is live while it is shown.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import QtQuick.Window
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: view

    required property CacheListModel caches
    readonly property real table: Math.min(1040, width - 56)

    Binding {
        target: view.caches
        property: "shown"
        value: view.visible && view.Window.visibility !== Window.Hidden && view.Window.visibility !== Window.Minimized
    }
    CacheColumns {
        id: widths
        room: view.table
    }

    Column {
        id: top
        anchors.horizontalCenter: parent.horizontalCenter
        y: 36
        width: view.table
        spacing: 14

        Item {
            width: parent.width
            height: Math.max(title.height, clearButton.height)
            TextLabel {
                id: title
                anchors.verticalCenter: parent.verticalCenter
                text: qsTr("Caches")
                font.pixelSize: Theme.large
                font.weight: Font.DemiBold
                Accessible.role: Accessible.Heading
            }
            TextButton {
                id: clearButton
                objectName: "clearDiskButton"
                anchors.right: parent.right
                anchors.verticalCenter: parent.verticalCenter
                outlined: true
                enabled: view.caches.files > 0
                label: qsTr("Clear disk cache…")
                size: Theme.medium
                onClicked: clearPrompt.open()
            }
        }
        TextLabel {
            width: parent.width
            wrapMode: Text.Wrap
            text: qsTr("A text that begins as an earlier one goes on from what the model remembers of it. Prove it reads an entry's text anew, from its first token, and compares every byte; answers go first.")
            color: Theme.muted
        }
        Notice {
            objectName: "diskTrouble"
            width: parent.width
            visible: text.length > 0
            kind: "warning"
            text: view.caches.trouble
            closable: false
        }
        Row {
            width: parent.width
            spacing: 14
            CacheTotal {
                id: memoryTotal
                objectName: "memoryTotal"
                width: (parent.width - 14) / 2
                height: Math.max(implicitHeight, diskTotal.implicitHeight)
                title: qsTr("Memory")
                amount: view.caches.hasMemory ? view.caches.memoryText : qsTr("none")
                share: view.caches.memoryShare
                inUse: view.caches.hasMemory
                hint: view.caches.hasMemory ? qsTr("Of the model that is open, until the program ends.")
                                            : qsTr("Opens with a model.")
            }
            CacheTotal {
                id: diskTotal
                objectName: "diskTotal"
                width: (parent.width - 14) / 2
                height: Math.max(implicitHeight, memoryTotal.implicitHeight)
                title: qsTr("Disk")
                amount: view.caches.diskText
                share: view.caches.diskShare
                inUse: view.caches.diskEnabled
                hint: view.caches.diskEnabled ? qsTr("Of all models, also after a restart.")
                                              : qsTr("Off in the settings: what is there stays and is not used.")
            }
        }
        Item {
            width: parent.width
            height: Math.max(28, titles.height)
            visible: list.count > 0
            TextLabel {
                anchors.verticalCenter: parent.verticalCenter
                text: qsTr("Text")
                color: Theme.faint
                font.pixelSize: Theme.small
                font.weight: Font.Medium
            }
            Row {
                id: titles
                anchors.right: parent.right
                SortTitle {
                    objectName: "sortTokens"
                    width: widths.tokens
                    visible: width > 0
                    label: qsTr("Tokens")
                    current: view.caches.sortColumn === CacheListModel.Tokens
                    descending: view.caches.descending
                    onClicked: view.caches.sortBy(CacheListModel.Tokens)
                }
                SortTitle {
                    objectName: "sortSize"
                    width: widths.size
                    visible: width > 0
                    label: qsTr("Size")
                    current: view.caches.sortColumn === CacheListModel.Size
                    descending: view.caches.descending
                    onClicked: view.caches.sortBy(CacheListModel.Size)
                }
                SortTitle {
                    objectName: "sortHits"
                    width: widths.hits
                    visible: width > 0
                    label: qsTr("Hits")
                    current: view.caches.sortColumn === CacheListModel.Hits
                    descending: view.caches.descending
                    onClicked: view.caches.sortBy(CacheListModel.Hits)
                }
                SortTitle {
                    objectName: "sortAge"
                    width: widths.age
                    visible: width > 0
                    label: qsTr("Age")
                    current: view.caches.sortColumn === CacheListModel.Age
                    descending: view.caches.descending
                    onClicked: view.caches.sortBy(CacheListModel.Age)
                }
                TextLabel {
                    width: widths.state
                    leftPadding: 24
                    anchors.verticalCenter: parent.verticalCenter
                    text: qsTr("State")
                    color: Theme.faint
                    font.pixelSize: Theme.small
                    font.weight: Font.Medium
                }
                Item {
                    width: widths.actions
                    height: 1
                }
            }
        }
    }
    ListView {
        id: list
        objectName: "cacheList"

        function standSomewhere() {
            if (activeFocus && currentIndex < 0 && count > 0)
                currentIndex = 0;
        }
        function proveCurrent() {
            view.caches.prove(view.caches.keyAt(currentIndex));
        }

        anchors.top: top.bottom
        anchors.topMargin: 4
        anchors.bottom: parent.bottom
        anchors.horizontalCenter: parent.horizontalCenter
        width: view.table + 24
        leftMargin: 12
        bottomMargin: 24
        clip: true
        focus: true
        activeFocusOnTab: true
        boundsBehavior: Flickable.StopAtBounds
        model: view.caches
        currentIndex: -1
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Entries of the caches")
        onActiveFocusChanged: standSomewhere()
        onCountChanged: standSomewhere()
        Keys.onReturnPressed: proveCurrent()
        Keys.onEnterPressed: proveCurrent()
        Keys.onSpacePressed: proveCurrent()
        Keys.onDeletePressed: view.caches.drop(view.caches.keyAt(currentIndex))
        T.ScrollBar.vertical: ScrollHandle {}

        delegate: CacheRow {
            width: view.table
            columns: widths
            marked: ListView.isCurrentItem && ListView.view.activeFocus
            onChosen: {
                list.currentIndex = index;
                list.forceActiveFocus(Qt.MouseFocusReason);
            }
            onProofWanted: view.caches.prove(key)
            onDropWanted: view.caches.drop(key)
        }
    }
    Column {
        objectName: "cachesEmpty"
        anchors.horizontalCenter: parent.horizontalCenter
        anchors.top: top.bottom
        anchors.topMargin: 64
        width: Math.min(420, view.table)
        visible: view.caches.known && list.count === 0
        spacing: 10
        Icon {
            anchors.horizontalCenter: parent.horizontalCenter
            width: 34
            height: 34
            name: "caches"
            color: Theme.faint
        }
        TextLabel {
            width: parent.width
            horizontalAlignment: Text.AlignHCenter
            text: qsTr("Nothing is remembered yet")
            font.pixelSize: Theme.title
            font.weight: Font.DemiBold
        }
        TextLabel {
            width: parent.width
            horizontalAlignment: Text.AlignHCenter
            wrapMode: Text.Wrap
            text: qsTr("What the model reads and writes in your conversations will be listed here.")
            color: Theme.muted
        }
    }
    ClearPrompt {
        id: clearPrompt
        parent: view
        files: view.caches.files
        amount: view.caches.diskText
        onConfirmed: view.caches.clearDisk()
    }
}
