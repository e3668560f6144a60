// One row of a message: the indentation, bars and marker its containers ask for, and the block itself.
pragma ComponentBehavior: Bound

import QtQuick
import Tandem.Markdown

Item {
    id: root

    required property MessageStyle style
    required property int index
    required property int kind
    required property int level
    required property string containers
    required property int shared
    required property string marker
    required property int task
    required property string language
    required property bool continues
    required property bool continued
    required property bool tight
    required property bool wrap
    required property int revision

    property TextBlock textBlock: null
    readonly property real em: style.textSize
    readonly property real firstLineTop: textBlock ? textBlock.firstLineTop : Math.round(em * 0.5)
    readonly property real quoteIndent: Math.round(em * 1.1)
    readonly property real listIndent: Math.round(em * 1.7)
    readonly property bool mirrored: textBlock ? textBlock.rightToLeft : false
    readonly property real indent: indentOf(containers.length)
    readonly property real gap: index === 0 || continues ? 0
        : Math.round(em * (tight ? 0.3 : kind === BlockModel.Heading ? 1.1 : kind === BlockModel.Rule ? 0.9 : 0.75))

    function indentOf(depth: int): real {
        let sum = 0;
        for (let i = 0; i < depth; ++i)
            sum += containers[i] === "Q" ? quoteIndent : listIndent;
        return sum;
    }

    implicitHeight: gap + content.height + (kind === BlockModel.Code && !continued ? Math.round(em * 0.25) : 0)

    Repeater {
        model: root.containers.length

        delegate: Rectangle {
            id: bar

            required property int index
            readonly property real offset: root.indentOf(index)
            // A quote that goes on from the row before has no hole in its bar.
            readonly property real start: index < root.shared ? 0 : root.gap

            visible: root.containers[index] === "Q"
            x: root.mirrored ? root.width - offset - width : offset
            y: start
            width: 3
            height: root.height - start
            radius: root.index === 0 ? 1.5 : 0
            color: root.style.colors.quoteBar
        }
    }

    Text {
        id: number

        readonly property real markerRight: root.indentOf(root.containers.lastIndexOf("L") + 1) - root.em * 0.5

        visible: root.marker !== "" && root.task === BlockModel.NoTask
        x: root.mirrored ? root.width - markerRight : markerRight - width
        y: root.gap + root.firstLineTop
        text: root.marker
        textFormat: Text.PlainText
        font.family: root.style.textFamily
        font.pixelSize: root.style.textSize
        color: root.style.colors.mutedText
        Accessible.role: Accessible.StaticText
        Accessible.name: text
    }

    Rectangle {
        visible: root.task !== BlockModel.NoTask
        width: Math.round(root.em * 0.9)
        height: width
        x: root.mirrored ? root.width - number.markerRight : number.markerRight - width
        y: Math.round(number.y + (number.height - height) / 2)
        radius: 3
        color: root.task === BlockModel.DoneTask ? root.style.colors.link : "transparent"
        border.width: 1
        border.color: root.task === BlockModel.DoneTask ? root.style.colors.link : root.style.colors.mutedText
        Accessible.role: Accessible.StaticText
        Accessible.name: root.task === BlockModel.DoneTask ? qsTr("done") : qsTr("open")

        Text {
            anchors.centerIn: parent
            visible: root.task === BlockModel.DoneTask
            text: "✓"
            textFormat: Text.PlainText
            font.family: root.style.textFamily
            font.pixelSize: Math.round(root.em * 0.7)
            color: root.style.colors.codeBackground
            Accessible.ignored: true
        }
    }

    // One of three, as a repeater of one: a Loader cannot make bound components in Qt 6.4.
    Column {
        id: content

        x: root.mirrored ? 0 : root.indent
        y: root.gap
        width: root.width - root.indent

        Repeater {
            model: root.kind === BlockModel.Code || root.kind === BlockModel.Rule ? 0 : 1
            onItemAdded: (index, item) => root.textBlock = item as TextBlock
            onItemRemoved: root.textBlock = null

            delegate: TextBlock {
                width: content.width
                style: root.style
                row: root.index
                revision: root.revision
                kind: root.kind
                level: root.level
            }
        }

        Repeater {
            model: root.kind === BlockModel.Code ? 1 : 0

            delegate: CodeBlock {
                width: content.width
                style: root.style
                row: root.index
                revision: root.revision
                language: root.language
                continues: root.continues
                continued: root.continued
                wrap: root.wrap
            }
        }

        Repeater {
            model: root.kind === BlockModel.Rule ? 1 : 0

            delegate: Rectangle {
                width: content.width
                height: 1
                color: root.style.colors.border
                Accessible.role: Accessible.Separator
                Accessible.name: qsTr("Separator")
            }
        }
    }
}
