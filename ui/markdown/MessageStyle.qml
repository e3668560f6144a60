// What the blocks of one message share: where their text comes from and how it looks. Internal to MessageBody.
import QtQuick
import Tandem.Markdown

QtObject {
    id: style

    property MarkdownMessage message: null
    property MessagePalette colors: null
    property real textSize: 15
    property string textFamily: ""
    property string codeFamily: ""
    property color textColor: "black"
    property bool showOrigins: false
    property string hoveredLink: ""
    property TextEdit selectionOwner: null

    readonly property list<color> syntaxColors: [colors.syntaxKeyword, colors.syntaxType, colors.syntaxString,
        colors.syntaxNumber, colors.syntaxComment, colors.syntaxFunction]

    signal linkActivated(url: string)
    signal copyRequested(text: string)

    function forgetSelection(edit: TextEdit) {
        if (selectionOwner === edit)
            selectionOwner = null;
    }

    // Only one block holds a selection at a time.
    function noteSelection(edit: TextEdit) {
        if (edit.selectionStart === edit.selectionEnd) {
            forgetSelection(edit);
            return;
        }
        const before = selectionOwner;
        selectionOwner = edit;
        if (before && before !== edit)
            before.deselect();
    }
}
