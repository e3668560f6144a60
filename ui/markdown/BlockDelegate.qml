// One row of a message: the indentation, bars and marker its containers ask for, and the block itself. Its parts are
// loaded by name, so that a row makes only those it has: rows come forty a second while an answer is written.
import QtQuick
import Tandem.Markdown

Block {
    id: root

    readonly property TextBlock textBlock: content.item as TextBlock
    readonly property real firstLineTop: textBlock ? textBlock.firstLineTop : Math.round(em * 0.5)
    readonly property real indent: indentOf(containers.length)

    mirrored: textBlock ? textBlock.rightToLeft : false
    gap: index === 0 || continues ? 0
        : Math.round(em * (tight ? 0.3 : kind === BlockModel.Heading ? 1.1 : kind === BlockModel.Rule ? 0.9 : 0.75))
    implicitHeight: gap + content.height + (kind === BlockModel.Code && !continued ? Math.round(em * 0.25) : 0)

    BlockPart {
        block: root
        part: root.containers.includes("Q") ? "QuoteBars.qml" : ""
        anchors.fill: parent
    }
    BlockPart {
        block: root
        part: root.marker !== "" || root.task !== BlockModel.NoTask ? "ItemMarker.qml" : ""
        y: root.gap + root.firstLineTop
        width: root.width
    }
    BlockPart {
        id: content

        block: root
        part: root.kind === BlockModel.Code ? "CodeBlock.qml"
            : root.kind === BlockModel.Rule ? "RuleLine.qml" : "TextBlock.qml"
        x: root.mirrored ? 0 : root.indent
        y: root.gap
        width: root.width - root.indent
    }
}
