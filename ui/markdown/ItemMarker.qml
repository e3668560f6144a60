// The bullet, number or task box before a list item. Internal to MessageBody.
import QtQuick
import Tandem.Markdown

Item {
    id: root

    required property Block block
    readonly property real markerRight: block.indentOf(block.containers.lastIndexOf("L") + 1) - block.em * 0.5

    Text {
        id: number

        visible: root.block.task === BlockModel.NoTask
        x: root.block.mirrored ? root.width - root.markerRight : root.markerRight - width
        text: root.block.marker
        textFormat: Text.PlainText
        font.family: root.block.style.textFamily
        font.pixelSize: root.block.style.textSize
        color: root.block.style.colors.mutedText
        Accessible.role: Accessible.StaticText
        Accessible.name: text
    }

    Rectangle {
        visible: root.block.task !== BlockModel.NoTask
        width: Math.round(root.block.em * 0.9)
        height: width
        x: root.block.mirrored ? root.width - root.markerRight : root.markerRight - width
        y: Math.round((number.height - height) / 2)
        radius: 3
        color: root.block.task === BlockModel.DoneTask ? root.block.style.colors.link : "transparent"
        border.width: 1
        border.color: root.block.task === BlockModel.DoneTask ? root.block.style.colors.link
                                                              : root.block.style.colors.mutedText
        Accessible.role: Accessible.StaticText
        Accessible.name: root.block.task === BlockModel.DoneTask ? qsTr("done") : qsTr("open")

        Text {
            anchors.centerIn: parent
            visible: root.block.task === BlockModel.DoneTask
            text: "✓"
            textFormat: Text.PlainText
            font.family: root.block.style.textFamily
            font.pixelSize: Math.round(root.block.em * 0.7)
            color: root.block.style.colors.codeBackground
            Accessible.ignored: true
        }
    }
}
