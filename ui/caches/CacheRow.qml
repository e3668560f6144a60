// An entry of the caches: what text it is of, its figures, its state, and what can be done with it.
import QtQuick
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

Item {
    id: row

    required property int index
    required property string key
    required property string heading
    required property string words
    required property string place
    required property string kind
    required property string tokens
    required property string size
    required property string hits
    required property string age
    required property string fingerprint
    required property int textState
    required property string stateText
    required property string detail
    required property bool proving
    required property bool provable
    required property bool droppable

    required property CacheColumns columns
    property bool marked: false // the keyboard stands on it

    signal chosen
    signal proofWanted
    signal dropWanted

    readonly property bool gone: textState === CacheListModel.Unusable
    readonly property bool bad: gone || textState === CacheListModel.ProofFailed
    readonly property color stateInk: proving ? Theme.accentInk
                                              : textState === CacheListModel.ProofFailed ? Theme.danger
                                              : gone ? Theme.warning
                                              : textState === CacheListModel.Proven ? Theme.good
                                              : textState === CacheListModel.Pinned ? Theme.accentInk : Theme.muted

    objectName: "cacheRow"
    implicitHeight: lines.height + 22
    Accessible.role: Accessible.ListItem
    Accessible.name: heading + ", " + qsTr("%1, %2, %3 tokens, %4, %5").arg(place).arg(kind).arg(tokens).arg(size).arg(stateText)
    Accessible.description: detail.length > 0 ? detail : fingerprint

    HoverHandler {
        id: hover
    }
    TapHandler {
        onTapped: row.chosen()
    }
    Rectangle {
        anchors.fill: parent
        anchors.leftMargin: -12
        anchors.rightMargin: -12
        radius: 10
        color: row.marked || hover.hovered ? Theme.hover : "transparent"
        FocusRing {
            target: row
            shown: row.marked
            gap: 0
        }
    }
    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
        visible: !row.marked && !hover.hovered
    }
    Column {
        id: lines
        y: 11
        width: parent.width - row.columns.figures
        spacing: 3
        TextLabel {
            width: parent.width - 16
            text: row.heading
            elide: Text.ElideRight
            font.weight: Font.Medium
            Accessible.ignored: true
        }
        TextLabel {
            width: parent.width - 16
            text: row.fingerprint.length > 0
                  ? qsTr("%1 · %2 · %3").arg(row.place).arg(row.kind).arg(row.fingerprint.substring(0, 8))
                  : qsTr("%1 · %2").arg(row.place).arg(row.kind)
            elide: Text.ElideRight
            color: Theme.faint
            font.pixelSize: Theme.small
            Accessible.ignored: true
        }
        TextLabel {
            width: parent.width - 16
            visible: row.words.length > 0 && row.words !== row.heading
            text: row.words
            elide: Text.ElideRight
            color: Theme.faint
            font.pixelSize: Theme.small
            font.italic: true
            Accessible.ignored: true
        }
        TextLabel {
            objectName: "cacheDetail"
            width: parent.width - 16
            visible: text.length > 0
            text: row.detail
            wrapMode: Text.Wrap
            color: row.bad ? row.stateInk : Theme.muted
            font.pixelSize: Theme.small
        }
    }
    Row {
        anchors.right: parent.right
        y: 11
        TextLabel {
            width: row.columns.tokens
            visible: width > 0
            text: row.tokens
            horizontalAlignment: Text.AlignRight
            Accessible.ignored: true
        }
        TextLabel {
            width: row.columns.size
            visible: width > 0
            text: row.size
            horizontalAlignment: Text.AlignRight
            Accessible.ignored: true
        }
        TextLabel {
            width: row.columns.hits
            visible: width > 0
            text: row.hits
            horizontalAlignment: Text.AlignRight
            Accessible.ignored: true
        }
        TextLabel {
            width: row.columns.age
            visible: width > 0
            text: row.age
            horizontalAlignment: Text.AlignRight
            Accessible.ignored: true
        }
        TextLabel {
            objectName: "cacheState"
            width: row.columns.state
            leftPadding: 24
            text: row.stateText
            elide: Text.ElideRight
            color: row.stateInk
            font.weight: row.stateInk === Theme.muted ? Font.Normal : Font.DemiBold
        }
        Item {
            width: row.columns.actions
            height: 1
            Row {
                anchors.right: parent.right
                y: -7
                IconButton {
                    objectName: "proveButton"
                    onActiveFocusChanged: focus = activeFocus // so that Tab comes back to the row
                    visible: row.provable
                    focusPolicy: row.marked ? Qt.StrongFocus : Qt.ClickFocus
                    name: row.proving ? qsTr("Stop the proof") : qsTr("Prove it")
                    tip: row.proving ? qsTr("Stop the proof (Return)")
                                     : qsTr("Prove it: reads the text anew and compares every byte (Return)")
                    iconName: row.proving ? "stop" : "prove"
                    onClicked: row.proofWanted()
                }
                IconButton {
                    objectName: "dropButton"
                    onActiveFocusChanged: focus = activeFocus // so that Tab comes back to the row
                    visible: row.droppable
                    focusPolicy: row.marked ? Qt.StrongFocus : Qt.ClickFocus
                    name: qsTr("Drop")
                    tip: qsTr("Drop: the text is read anew when it is needed (Delete)")
                    iconName: "delete"
                    onClicked: row.dropWanted()
                }
            }
        }
    }
}
