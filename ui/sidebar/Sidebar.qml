// The conversations, or what a search over all of them found.
import QtQuick
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: sidebar

    required property Session session
    readonly property bool searching: searchField.text.trim().length > 0

    signal opened

    function focusSearch() {
        searchField.forceActiveFocus(Qt.ShortcutFocusReason);
        searchField.selectAll();
    }
    // The conversation the list stands on while it has the focus, else the open one.
    function renameOne() {
        const marked = list.markedConversation();
        searchField.clear();
        list.rename(marked > 0 ? marked : session.chat.conversationId);
    }

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Conversations")

    Rectangle {
        anchors.fill: parent
        color: Theme.panel
        Rectangle {
            anchors.right: parent.right
            width: 1
            height: parent.height
            color: Theme.line
        }
    }
    LineField {
        id: searchField
        objectName: "searchField"
        x: 14
        y: 14
        anchors.right: newButton.left
        width: sidebar.width - 72
        anchors.rightMargin: 8
        name: qsTr("Search conversations")
        hint: qsTr("Search conversations")
        iconName: "search"
        rightPadding: clearButton.visible ? 30 : 12
        onTextChanged: delay.restart()
        Keys.onEscapePressed: event => {
            event.accepted = text.length > 0;
            clear();
        }
        Keys.onDownPressed: {
            if (sidebar.searching)
                results.forceActiveFocus(Qt.TabFocusReason);
            else
                list.forceActiveFocus(Qt.TabFocusReason);
        }
        IconButton {
            id: clearButton
            anchors.right: parent.right
            anchors.rightMargin: 3
            anchors.verticalCenter: parent.verticalCenter
            implicitWidth: 26
            implicitHeight: 26
            iconSize: 13
            visible: searchField.length > 0
            name: qsTr("Clear the search")
            iconName: "close"
            onClicked: {
                searchField.clear();
                searchField.forceActiveFocus();
            }
        }
        Timer {
            id: delay
            interval: 120
            onTriggered: sidebar.session.search(searchField.text)
        }
    }
    IconButton {
        id: newButton
        objectName: "newButton"
        anchors.right: parent.right
        anchors.rightMargin: 14
        y: 14
        implicitWidth: 36
        implicitHeight: searchField.height
        accent: true
        name: qsTr("New conversation")
        tip: qsTr("New conversation (Ctrl+N)")
        iconName: "plus"
        onClicked: {
            sidebar.session.chat.startNew();
            sidebar.opened();
        }
    }
    ConversationList {
        id: list
        anchors.top: searchField.bottom
        anchors.topMargin: 8
        anchors.bottom: parent.bottom
        width: parent.width
        visible: !sidebar.searching
        session: sidebar.session
        onOpened: sidebar.opened()
    }
    SearchResults {
        id: results
        anchors.top: searchField.bottom
        anchors.topMargin: 8
        anchors.bottom: parent.bottom
        width: parent.width
        visible: sidebar.searching
        session: sidebar.session
        onOpened: sidebar.opened()
    }
}
