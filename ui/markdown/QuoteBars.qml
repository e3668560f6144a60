// The bars of the quotes a block stands in. Internal to MessageBody.
pragma ComponentBehavior: Bound

import QtQuick

Item {
    id: root

    required property Block block

    Repeater {
        model: root.block.containers.length

        delegate: Rectangle {
            required property int index
            readonly property real offset: root.block.indentOf(index)
            // A quote that goes on from the row before has no hole in its bar.
            readonly property real start: index < root.block.shared ? 0 : root.block.gap

            visible: root.block.containers[index] === "Q"
            x: root.block.mirrored ? root.width - offset - width : offset
            y: start
            width: 3
            height: root.height - start
            radius: root.block.index === 0 ? 1.5 : 0
            color: root.block.style.colors.quoteBar
        }
    }
}
