// The list under its headings. Up and Down move, Return opens, F2 renames, Delete deletes (with Undo).
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: root

    required property Session session

    signal opened

    // -1, or the conversation whose title is being typed.
    property real renaming: -1

    function rename(conversation: real) {
        const row = session.conversations.rowOf(conversation);
        if (row < 0)
            return;
        list.currentIndex = row;
        list.positionViewAtIndex(row, ListView.Contain);
        renaming = conversation;
    }
    function markedConversation(): real {
        return list.activeFocus ? session.conversations.idAt(list.currentIndex) : 0;
    }
    function endRename() {
        renaming = -1;
        list.forceActiveFocus(Qt.OtherFocusReason);
    }

    ListView {
        id: list
        objectName: "conversationList"

        function openCurrent() {
            const id = root.session.conversations.idAt(currentIndex);
            if (id === 0)
                return;
            root.session.chat.open(id);
            root.opened();
        }

        anchors.fill: parent
        model: root.session.conversations
        clip: true
        focus: true
        activeFocusOnTab: true
        boundsBehavior: Flickable.StopAtBounds
        bottomMargin: 14
        spacing: 2
        currentIndex: -1
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Conversations")
        onActiveFocusChanged: if (activeFocus && currentIndex < 0)
            currentIndex = Math.max(0, root.session.conversations.rowOf(root.session.chat.conversationId))
        Keys.onReturnPressed: openCurrent()
        Keys.onEnterPressed: openCurrent()
        Keys.onSpacePressed: openCurrent()
        Keys.onDeletePressed: root.session.remove(root.session.conversations.idAt(currentIndex))
        Keys.onMenuPressed: {
            if (currentItem)
                (currentItem as ConversationRow).openMenu();
        }

        section.property: "section"
        T.ScrollBar.vertical: ScrollHandle {}
        delegate: ConversationRow {
            width: ListView.view.width
            heading: ListView.section !== ListView.previousSection ? ListView.section : ""
            session: root.session
            current: conversationId === root.session.chat.conversationId
            marked: ListView.isCurrentItem && ListView.view.activeFocus
            renaming: conversationId === root.renaming
            onChosen: {
                list.currentIndex = index;
                list.openCurrent();
            }
            onRenameWanted: root.rename(conversationId)
            onRenameEnded: root.endRename()
        }
    }
    TextLabel {
        anchors.horizontalCenter: parent.horizontalCenter
        y: 28
        width: parent.width - 48
        visible: list.count === 0
        horizontalAlignment: Text.AlignHCenter
        wrapMode: Text.Wrap
        text: qsTr("Your conversations will be listed here.")
        color: Theme.faint
        font.pixelSize: Theme.small
    }
}
