// A conversation: what was said, how full the context is, and the place to write the next message.
import QtQuick
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: view

    required property Session session
    readonly property Chat chat: session.chat
    readonly property ModelLibrary models: session.models
    readonly property bool empty: session.messages.count === 0

    signal modelsWanted

    function focusComposer() {
        composer.focusText();
    }

    Connections {
        target: view.chat
        function onChanged() {
            // The buttons under the messages are off while an answer is written; the keyboard goes on here.
            if (view.chat.answering && list.activeFocus)
                composer.focusText();
        }
    }
    ChatHeader {
        id: header
        width: parent.width
        session: view.session
        panelOpen: panel.visible
        onModelsWanted: view.modelsWanted()
        onPanelToggled: {
            panel.visible = !panel.visible;
            if (panel.visible)
                panel.forceActiveFocus(Qt.TabFocusReason);
            else
                composer.focusText();
        }
    }
    Column {
        id: notices
        anchors.top: header.bottom
        anchors.topMargin: visibleChildren.length > 0 ? 10 : 0
        anchors.horizontalCenter: content.horizontalCenter
        width: Math.min(Theme.column, content.width - 48)
        spacing: 8
        Notice {
            objectName: "completionNotice"
            width: parent.width
            visible: view.models.completionMode
            text: qsTr("Completion mode: this model has no chat template, so it continues your text as it stands.")
            closable: false
        }
        Notice {
            objectName: "modelProblem"
            width: parent.width
            visible: view.models.problem.length > 0
            kind: "danger"
            text: view.models.problem
            actionText: qsTr("Models")
            onAction: view.modelsWanted()
            onClosed: view.models.dismissProblem()
        }
    }
    Item {
        id: content
        anchors.left: parent.left
        anchors.right: panel.visible ? panel.left : parent.right
        anchors.top: notices.bottom
        anchors.bottom: composer.top
        anchors.bottomMargin: 8

        MessageList {
            id: list
            anchors.fill: parent
            visible: !view.empty
            session: view.session
        }
        EmptyState {
            anchors.fill: parent
            visible: view.empty && view.chat.conversationId === 0 && !view.chat.answering
            models: view.models
            onPromptChosen: text => composer.put(text)
            onModelsWanted: view.modelsWanted()
        }
    }
    Composer {
        id: composer
        anchors.horizontalCenter: content.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: 22
        width: Math.min(Theme.column, content.width - 48)
        session: view.session
        onScrollWanted: pages => list.scrollPages(pages)
        onSent: list.followEnd()
    }
    AnswerPanel {
        id: panel
        anchors.top: header.bottom
        anchors.right: parent.right
        anchors.bottom: parent.bottom
        width: 320
        visible: false
        chat: view.chat
        onClosed: {
            visible = false;
            composer.focusText();
        }
    }
}
