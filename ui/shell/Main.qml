// The window: the rail, the conversations and the view that is shown, with the keys that work everywhere.
import QtQuick
import QtQuick.Window
import Tandem.Caches
import Tandem.Chat
import Tandem.Controls
import Tandem.Models
import Tandem.Picker
import Tandem.Preferences
import Tandem.Sidebar
import Tandem.Theme

Window {
    id: window

    required property Session session
    property string view: "chat"

    function show(name: string) {
        view = name;
        if (name === "chat")
            chatView.focusComposer();
        else if (name === "models")
            modelsView.forceActiveFocus();
        else if (name === "caches")
            cachesView.forceActiveFocus();
        else
            settingsView.forceActiveFocus();
    }

    width: 1280
    height: 820
    minimumWidth: 720
    minimumHeight: 480
    title: session.chat.conversationId === 0 ? qsTr("Tandem") : qsTr("%1 – Tandem").arg(session.chat.title)
    color: Theme.window

    Binding {
        target: Theme
        property: "choice"
        value: window.session.settings.theme
    }
    Binding {
        target: Theme
        property: "textScale"
        value: window.session.settings.textScale
    }
    Binding {
        target: Theme
        property: "systemDark"
        value: systemColours.window.hslLightness < 0.5
    }
    SystemPalette {
        id: systemColours
    }

    Shortcut {
        sequences: ["Ctrl+N"]
        onActivated: {
            window.session.chat.startNew();
            window.show("chat");
        }
    }
    Shortcut {
        sequences: ["Ctrl+F"]
        onActivated: {
            window.view = "chat";
            sidebar.focusSearch();
        }
    }
    Shortcut {
        sequences: ["Ctrl+1"]
        onActivated: window.show("chat")
    }
    Shortcut {
        sequences: ["Ctrl+2"]
        onActivated: window.show("models")
    }
    Shortcut {
        sequences: ["Ctrl+,", "Ctrl+3"]
        onActivated: window.show("settings")
    }
    Shortcut {
        sequences: ["Ctrl+4"]
        onActivated: window.show("caches")
    }
    Shortcut {
        sequences: ["Ctrl+Q"]
        onActivated: window.close()
    }
    Shortcut {
        sequences: ["Ctrl+L"]
        onActivated: window.show("chat")
    }
    Shortcut {
        sequences: ["F2"]
        enabled: window.view === "chat"
        onActivated: sidebar.renameOne()
    }
    Shortcut {
        sequences: ["Ctrl+Z"]
        enabled: toast.offering && !(window.activeFocusItem instanceof TextInput)
                 && !(window.activeFocusItem instanceof TextEdit)
        onActivated: toast.undo()
    }
    Shortcut {
        sequences: ["Escape"]
        enabled: window.session.chat.answering
        onActivated: window.session.chat.stop()
    }

    Rail {
        id: rail
        height: parent.height
        current: window.view
        onChosen: view => window.show(view)
    }
    Sidebar {
        id: sidebar
        anchors.left: rail.right
        width: 262
        height: parent.height
        visible: window.view === "chat"
        session: window.session
        onOpened: chatView.focusComposer()
    }
    ChatView {
        id: chatView
        anchors.left: sidebar.right
        anchors.right: parent.right
        height: parent.height
        visible: window.view === "chat"
        session: window.session
        onModelsWanted: window.show("models")
    }
    ModelsView {
        id: modelsView
        anchors.left: rail.right
        anchors.right: parent.right
        height: parent.height
        visible: window.view === "models"
        models: window.session.models
        onDone: window.show("chat")
    }
    SettingsView {
        id: settingsView
        anchors.left: rail.right
        anchors.right: parent.right
        height: parent.height
        visible: window.view === "settings"
        settings: window.session.settings
    }
    CachesView {
        id: cachesView
        anchors.left: rail.right
        anchors.right: parent.right
        height: parent.height
        visible: window.view === "caches"
        caches: window.session.caches
    }
    UndoToast {
        id: toast
        anchors.horizontalCenter: chatView.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: 140
        session: window.session
    }
    Connections {
        target: window.session
        function onRemoved(conversation: real, title: string) {
            toast.offer(conversation, title);
        }
    }
    Notice {
        objectName: "storeBanner"
        anchors.horizontalCenter: chatView.horizontalCenter
        y: 64
        width: Math.min(Theme.column, chatView.width - 48)
        visible: text.length > 0
        kind: "warning"
        text: window.session.storeTrouble
        closable: false
    }
    Component.onCompleted: chatView.focusComposer()
}
