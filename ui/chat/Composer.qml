// Where the next message is written: Enter sends, Shift+Enter is a new line, and a key that belongs to an input
// method's composition never sends. What is written for one conversation waits there while another is open.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: composer

    required property Session session
    readonly property Chat chat: session.chat
    readonly property bool sendable: area.text.trim().length > 0 && !chat.answering
    property var drafts: ({})
    property real draftOf: 0

    signal scrollWanted(pages: real)
    signal sent

    function focusText() {
        area.forceActiveFocus();
    }
    function put(text: string) {
        area.text = text;
        area.cursorPosition = area.length;
        area.forceActiveFocus();
    }
    function send() {
        if (!sendable || area.inputMethodComposing)
            return;
        const text = area.text;
        area.clear();
        chat.send(text);
        sent();
    }
    function tokens(count: real): string {
        return Number(count).toLocaleString(Qt.locale(), "f", 0);
    }

    implicitHeight: frame.height + (problem.visible ? problem.height + 8 : 0)

    Notice {
        id: problem
        objectName: "composerProblem"
        width: parent.width
        visible: composer.chat.problem.length > 0
        kind: "danger"
        text: composer.chat.problem
        onClosed: composer.chat.dismissProblem()
    }
    Rectangle {
        id: frame
        anchors.bottom: parent.bottom
        width: parent.width
        height: Math.min(260, Math.max(28, area.contentHeight + 6)) + 64
        radius: 14
        color: Theme.raised
        border.width: 1
        border.color: area.activeFocus ? Theme.focus : Theme.line

        Flickable {
            id: scroller
            anchors.left: parent.left
            anchors.right: parent.right
            anchors.top: parent.top
            anchors.topMargin: 6
            anchors.bottom: bottomRow.top
            clip: true
            boundsBehavior: Flickable.StopAtBounds
            T.ScrollBar.vertical: ScrollHandle {}
            T.TextArea.flickable: T.TextArea {
                id: area
                objectName: "composerText"
                leftPadding: 16
                rightPadding: 16
                topPadding: 7
                bottomPadding: 4
                focus: true
                wrapMode: TextEdit.Wrap
                textFormat: TextEdit.PlainText
                color: Theme.text
                selectionColor: Theme.accentFill
                selectedTextColor: Theme.accentText
                selectByMouse: true
                font.family: Theme.family
                font.pixelSize: Theme.body
                Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
                Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
                Accessible.name: qsTr("Message")
                Accessible.role: Accessible.EditableText
                Accessible.multiLine: true
                onTextChanged: composer.chat.setDraft(text)
                Keys.onPressed: event => {
                    const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                    if (enter && !(event.modifiers & Qt.ShiftModifier)) {
                        event.accepted = true;
                        composer.send();
                    } else if (event.key === Qt.Key_PageUp || event.key === Qt.Key_PageDown) {
                        event.accepted = true;
                        composer.scrollWanted(event.key === Qt.Key_PageUp ? -1 : 1);
                    }
                }
                TextLabel {
                    x: area.leftPadding
                    y: area.topPadding
                    visible: area.length === 0 && area.preeditText.length === 0
                    text: composer.session.models.completionMode ? qsTr("Write the beginning of a text")
                                                                 : qsTr("Write a message")
                    color: Theme.faint
                    font.pixelSize: area.font.pixelSize
                    Accessible.ignored: true
                }
            }
        }
        Item {
            id: bottomRow
            anchors.left: parent.left
            anchors.right: parent.right
            anchors.bottom: parent.bottom
            anchors.margins: 11
            anchors.leftMargin: 16
            height: 34

            TextLabel {
                objectName: "draftCount"
                anchors.left: parent.left
                anchors.verticalCenter: parent.verticalCenter
                visible: composer.chat.draftTokens >= 0
                readonly property bool tooLong: composer.session.models.contextLength > 0
                                                && composer.chat.afterSending > composer.session.models.contextLength
                text: qsTr("%1 tokens, %2 after sending").arg(composer.tokens(composer.chat.draftTokens))
                                                         .arg(composer.tokens(composer.chat.afterSending))
                color: tooLong ? Theme.danger : Theme.faint
                font.pixelSize: Theme.tiny
            }
            TextLabel {
                anchors.right: sendButton.left
                anchors.rightMargin: 14
                anchors.verticalCenter: parent.verticalCenter
                visible: frame.width > 560
                text: composer.chat.answering ? qsTr("Esc stops") : qsTr("Enter sends · Shift+Enter new line · Esc stops")
                color: Theme.faint
                font.pixelSize: Theme.tiny
            }
            TextButton {
                id: sendButton
                objectName: composer.chat.answering ? "stopButton" : "sendButton"
                anchors.right: parent.right
                anchors.verticalCenter: parent.verticalCenter
                implicitWidth: 74
                strong: !composer.chat.answering
                outlined: composer.chat.answering
                iconName: composer.chat.answering ? "stop" : ""
                label: composer.chat.answering ? qsTr("Stop") : qsTr("Send")
                size: Theme.medium
                enabled: composer.chat.answering || composer.sendable
                onClicked: {
                    if (composer.chat.answering)
                        composer.chat.stop();
                    else
                        composer.send();
                }
            }
        }
        TapHandler {
            onTapped: area.forceActiveFocus()
        }
    }
    Connections {
        target: composer.chat
        function onOpened() {
            const kept = composer.drafts;
            kept[composer.draftOf] = area.text;
            composer.draftOf = composer.chat.conversationId;
            area.text = kept[composer.draftOf] ?? "";
            area.cursorPosition = area.length;
        }
        function onDraftReturned(text: string) {
            // What was typed since comes after what could not be sent.
            area.text = area.length > 0 ? text + "\n" + area.text : text;
            area.cursorPosition = area.length;
        }
    }
}
