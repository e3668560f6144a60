// One message: its blocks below each other. README.md describes the interface.
pragma ComponentBehavior: Bound

import QtQuick
import Tandem.Markdown

Item {
    id: root

    property MarkdownMessage message: null
    property MessagePalette colors: MessagePalette {}
    property real textSize: 15
    property string textFamily: "Inter"
    property string codeFamily: "JetBrains Mono"
    property color textColor: colors.text
    property bool showOrigins: false
    readonly property string hoveredLink: shared.hoveredLink
    readonly property bool hides: root.message !== null && root.message.hiddenBytes > 0
    readonly property bool hasSelection: shared.selectionOwner !== null
    readonly property real naturalWidth: root.message && root.message.plain && root.message.sourceSize >= 0
        ? Math.ceil(root.message.naturalWidth(measure.font)) + 1 : root.width

    signal linkActivated(url: string)
    signal copyRequested(text: string)

    function selectedText(): string {
        return shared.selectionOwner ? shared.selectionOwner.selectedText : "";
    }

    function clearSelection() {
        if (shared.selectionOwner)
            shared.selectionOwner.deselect();
    }

    implicitHeight: column.height + (hides ? more.height : 0)
    implicitWidth: 480

    MessageStyle {
        id: shared

        message: root.message
        colors: root.colors
        textSize: root.textSize
        textFamily: root.textFamily
        codeFamily: root.codeFamily
        textColor: root.textColor
        showOrigins: root.showOrigins
        onLinkActivated: url => root.linkActivated(url)
        onCopyRequested: text => root.copyRequested(text)
    }

    TextMetrics {
        id: measure

        font.family: root.textFamily
        font.pixelSize: root.textSize
    }

    BlockColumn {
        id: column

        width: root.width

        Repeater {
            model: root.message ? root.message.blocks : null

            delegate: BlockDelegate {
                width: column.width
                style: shared
            }
        }
    }

    PlainButton {
        id: more

        y: column.height
        visible: root.hides
        style: shared
        text: qsTr("Show more (%1 KB are not shown)").arg(
                  Math.ceil((root.message ? root.message.hiddenBytes : 0) / 1024))
        onClicked: root.message.showMore()
    }
}
