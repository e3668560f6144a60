// What the person wrote, with copy, edit and branch below it; edited in place.
import QtQuick
import Tandem.Controls
import Tandem.Markdown
import Tandem.Theme

FocusScope {
    id: message

    required property MessageRow row
    property bool editing: false
    readonly property bool actionsShown: hover.hovered || activeFocus || row.versionCount > 1

    function beginEdit() {
        box.text = row.session.messages.contentOf(row.messageId);
        editing = true;
        box.edit.forceActiveFocus();
        box.edit.cursorPosition = box.edit.length;
    }
    function endEdit(accept: bool) {
        editing = false;
        if (accept)
            row.session.chat.edit(row.messageId, box.text);
    }

    implicitHeight: editing ? editor.height + 10 : bubble.height + actions.height + 2

    HoverHandler {
        id: hover
    }
    Rectangle {
        id: bubble
        visible: !message.editing
        anchors.right: parent.right
        width: Math.min(message.width * 0.69, Math.ceil(text.naturalWidth) + 33)
        height: text.implicitHeight + 22
        radius: 12
        color: Theme.raised
        border.color: Theme.line
        MessageBody {
            id: text
            x: 16
            y: 11
            width: parent.width - 32
            message: message.row.body
            colors: message.row.palette
            textSize: Theme.body
            onCopyRequested: text => message.row.session.copyText(text)
        }
    }
    Row {
        id: actions
        visible: !message.editing
        anchors.right: parent.right
        anchors.top: bubble.bottom
        anchors.topMargin: 2
        spacing: 2
        opacity: message.actionsShown ? 1 : 0
        VersionSwitch {
            anchors.verticalCenter: parent.verticalCenter
            row: message.row
        }
        TextButton {
            objectName: "copyPerson"
            label: qsTr("Copy")
            onClicked: message.row.session.chat.copy(message.row.messageId)
        }
        TextButton {
            objectName: "editButton"
            label: qsTr("Edit")
            enabled: !message.row.session.chat.answering
            onClicked: message.beginEdit()
        }
        TextButton {
            label: qsTr("Branch")
            onClicked: message.row.session.chat.branch(message.row.messageId)
        }
    }
    Column {
        id: editor
        visible: message.editing
        width: parent.width
        spacing: 8
        TextBox {
            id: box
            objectName: "editBox"
            width: parent.width
            implicitHeight: Math.max(72, Math.min(320, edit.contentHeight + 26))
            name: qsTr("Edit the message")
            edit.Keys.onPressed: event => {
                const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                if (event.key === Qt.Key_Escape) {
                    message.endEdit(false);
                    event.accepted = true;
                } else if (enter && !(event.modifiers & Qt.ShiftModifier) && !box.edit.inputMethodComposing) {
                    message.endEdit(true);
                    event.accepted = true;
                }
            }
        }
        Row {
            anchors.right: parent.right
            spacing: 8
            TextButton {
                label: qsTr("Cancel")
                outlined: true
                onClicked: message.endEdit(false)
            }
            TextButton {
                objectName: "saveEdit"
                label: qsTr("Send as a new version")
                strong: true
                onClicked: message.endEdit(true)
            }
        }
    }
}
