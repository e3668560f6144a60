// A paragraph, heading, table or plain piece: a read-only text that C++ fills. Tab stops at it when it has
// links; there the arrow keys choose one and Return opens it. Internal to MessageBody.
import QtQuick
import Tandem.Markdown

Item {
    id: root

    required property Block block
    readonly property MessageStyle style: block.style
    readonly property int kind: block.kind

    readonly property bool rightToLeft: filler.rightToLeft
    readonly property real firstLineTop: Math.max(0, edit.firstLineHeight - edit.font.pixelSize * 1.21) / 2
    readonly property real headingScale: [1, 1.45, 1.25, 1.12, 1.05, 1, 1][block.level]

    implicitHeight: edit.height

    TintLayer {
        anchors.fill: edit
        source: filler
        origins: root.style.colors.origins
        showOrigins: root.style.showOrigins
        plateColor: root.style.colors.inlineCodeBackground
    }

    BlockDocument {
        id: filler

        message: root.style.message
        row: root.block.index
        revision: root.block.revision
        document: edit.textDocument
        textSize: edit.font.pixelSize
        lineHeight: root.kind === BlockModel.Heading ? 1.15 : 1.28
        codeFamily: root.style.codeFamily
        linkColor: root.style.colors.link
        mutedColor: root.style.colors.mutedText
        borderColor: root.style.colors.border
    }

    TextEdit {
        id: edit

        property int currentLink: 0
        readonly property real firstLineHeight: positionToRectangle(0).height

        function chooseLink(link: int) {
            currentLink = Math.max(0, Math.min(link, filler.linkCount - 1));
            select(filler.linkStart(currentLink), filler.linkEnd(currentLink));
        }

        width: root.width
        readOnly: true
        selectByMouse: true
        selectByKeyboard: true
        textFormat: TextEdit.PlainText
        wrapMode: TextEdit.Wrap
        font.family: root.style.textFamily
        font.pixelSize: Math.round(root.style.textSize * root.headingScale)
        font.weight: root.kind === BlockModel.Heading ? Font.DemiBold : Font.Normal
        color: root.style.textColor
        selectionColor: root.style.colors.selection
        selectedTextColor: root.style.colors.selectedText
        activeFocusOnTab: filler.linkCount > 0
        Accessible.role: root.kind === BlockModel.Heading ? Accessible.Heading : Accessible.Paragraph
        Accessible.name: filler.spokenText
        Accessible.readOnly: true
        onSelectedTextChanged: root.style.noteSelection(edit)
        Component.onDestruction: root.style.forgetSelection(edit)
        onHoveredLinkChanged: root.style.hoveredLink = hoveredLink
        onLinkActivated: link => root.style.linkActivated(link)
        onActiveFocusChanged: {
            if (activeFocus && !pointer.active && filler.linkCount > 0)
                chooseLink(0);
        }
        Keys.onPressed: event => {
            if (filler.linkCount === 0 || event.modifiers !== Qt.NoModifier)
                return;
            if (event.key === Qt.Key_Right || event.key === Qt.Key_Down)
                chooseLink(currentLink + 1);
            else if (event.key === Qt.Key_Left || event.key === Qt.Key_Up)
                chooseLink(currentLink - 1);
            else if (event.key === Qt.Key_Return || event.key === Qt.Key_Enter)
                root.style.linkActivated(filler.linkAddress(currentLink));
            else
                return;
            event.accepted = true;
        }

        PointHandler {
            id: pointer
        }

        HoverHandler {
            cursorShape: edit.hoveredLink !== "" ? Qt.PointingHandCursor : Qt.IBeamCursor
        }
    }

    Rectangle {
        visible: edit.activeFocus && filler.linkCount > 0
        anchors.fill: edit
        anchors.margins: -4
        color: "transparent"
        radius: 4
        border.width: 1
        border.color: root.style.colors.focus
    }
}
