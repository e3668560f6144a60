// Code: a header with its language and a Copy button, and the text, which scrolls sideways. A long block comes in
// several pieces that look like one. Internal to MessageBody.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import Tandem.Markdown

Item {
    id: root

    required property Block block
    readonly property MessageStyle style: block.style
    readonly property bool continues: block.continues
    readonly property bool continued: block.continued

    readonly property real padding: 13
    readonly property real headerHeight: continues ? 0 : Math.round(style.textSize * 2.0)

    implicitHeight: headerHeight + view.height + (continues ? 0 : 9) + (continued ? 0 : 9)

    // The corners of the pieces in between lie outside what is shown.
    Item {
        anchors.fill: parent
        clip: root.continues || root.continued

        Rectangle {
            width: parent.width
            y: root.continues ? -radius - 1 : 0
            height: parent.height + (root.continues ? radius + 1 : 0) + (root.continued ? radius + 1 : 0)
            radius: 8
            color: root.style.colors.codeBackground
            border.width: 1
            border.color: root.style.colors.border
        }
    }

    Item {
        id: header

        visible: !root.continues
        width: parent.width
        height: root.headerHeight

        Text {
            x: root.padding
            width: copy.x - x - 8
            anchors.verticalCenter: parent.verticalCenter
            text: root.block.language !== "" ? root.block.language : qsTr("text")
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.family: root.style.textFamily
            font.pixelSize: Math.round(root.style.textSize * 0.76)
            color: root.style.colors.mutedText
            Accessible.role: Accessible.StaticText
            Accessible.name: qsTr("Code, %1").arg(text)
        }

        PlainButton {
            id: copy

            property bool done: false

            anchors.right: parent.right
            anchors.rightMargin: root.padding - rightPadding
            anchors.verticalCenter: parent.verticalCenter
            style: root.style
            text: done ? qsTr("Copied") : qsTr("Copy")
            Accessible.name: qsTr("Copy code")
            onClicked: {
                root.style.copyRequested(root.style.message.codeText(root.block.index));
                done = true;
                restore.restart();
            }

            Timer {
                id: restore

                interval: 1500
                onTriggered: copy.done = false
            }
        }

        Rectangle {
            y: parent.height - 1
            x: 1
            width: parent.width - 2
            height: 1
            color: root.style.colors.border
        }
    }

    Flickable {
        id: view

        function reveal(box: rect) {
            if (box.x < contentX)
                contentX = Math.max(0, box.x);
            else if (box.x + box.width > contentX + width)
                contentX = Math.min(contentWidth - width, box.x + box.width);
        }

        x: root.padding - 2
        y: root.headerHeight + (root.continues ? 0 : 9)
        width: root.width - 2 * x
        height: edit.height + (bar.size < 1 ? bar.height + 4 : 0)
        clip: true
        // Dragging selects text; sideways it is moved by wheel, bar, keys and selection.
        interactive: false
        contentWidth: Math.max(width, Math.min(edit.width, filler.idealWidth) + 4)
        contentHeight: edit.height
        onWidthChanged: contentX = Math.max(0, Math.min(contentX, contentWidth - width))

        TintLayer {
            anchors.fill: edit
            source: filler
            origins: root.style.colors.origins
            showOrigins: root.style.showOrigins
        }

        BlockDocument {
            id: filler

            message: root.style.message
            row: root.block.index
            revision: root.block.revision
            language: root.block.language
            document: edit.textDocument
            textSize: root.style.textSize
            lineHeight: 1.22
            syntaxColors: root.style.syntaxColors
        }

        TextEdit {
            id: edit

            // In steps: each change of the width lays the whole block out again.
            readonly property real step: 240

            x: 2
            width: root.block.wrap || filler.idealWidth <= view.width - 4
                ? view.width - 4 : Math.ceil(filler.idealWidth / step) * step
            readOnly: true
            selectByMouse: true
            selectByKeyboard: true
            textFormat: TextEdit.PlainText
            wrapMode: root.block.wrap ? TextEdit.WrapAnywhere : TextEdit.NoWrap
            font.family: root.style.codeFamily
            font.pixelSize: Math.round(root.style.textSize * 0.87)
            font.preferShaping: false
            tabStopDistance: space.advanceWidth * 4
            color: root.style.colors.codeText
            selectionColor: root.style.colors.selection
            selectedTextColor: root.style.colors.selectedText
            Accessible.role: Accessible.Paragraph
            Accessible.name: filler.spokenText
            Accessible.readOnly: true
            onSelectedTextChanged: root.style.noteSelection(edit)
            Component.onDestruction: root.style.forgetSelection(edit)
            onCursorRectangleChanged: {
                if (activeFocus)
                    view.reveal(cursorRectangle);
            }

            HoverHandler {
                cursorShape: Qt.IBeamCursor
            }
        }

        TextMetrics {
            id: space

            font: edit.font
            text: " "
        }

        WheelHandler {
            orientation: Qt.Horizontal
            target: null
            onWheel: event => {
                const step = event.pixelDelta.x !== 0 ? event.pixelDelta.x : event.angleDelta.x / 2;
                view.contentX = Math.max(0, Math.min(view.contentX - step, view.contentWidth - view.width));
            }
        }

        T.ScrollBar.horizontal: T.ScrollBar {
            id: bar

            parent: view
            y: view.height - height
            width: view.width
            implicitHeight: 8
            padding: 1
            orientation: Qt.Horizontal
            visible: size < 1
            minimumSize: 0.1
            focusPolicy: Qt.NoFocus
            Accessible.name: qsTr("Scroll code sideways")

            contentItem: Rectangle {
                radius: 3
                color: bar.pressed || bar.hovered ? root.style.colors.mutedText : root.style.colors.quoteBar
            }
        }
    }
}
