// What the model wrote, what became of it, what can be done with it, and what it cost.
pragma ComponentBehavior: Bound

import QtQuick
import Tandem.Controls
import Tandem.Markdown
import Tandem.Models
import Tandem.Theme

Column {
    id: message

    required property MessageRow row
    readonly property Chat chat: row.session.chat

    spacing: 8

    MessageBody {
        objectName: "answerBody"
        width: parent.width
        visible: implicitHeight > 0
        message: message.row.body
        colors: message.row.palette
        textSize: Theme.body
        showOrigins: message.row.session.settings.tintOrigins
        onCopyRequested: text => message.row.session.copyText(text)
        onLinkActivated: url => Qt.openUrlExternally(url)
    }
    TextLabel {
        objectName: "answerPhase"
        visible: message.row.streaming && message.chat.phase !== Chat.Writing
        text: message.chat.phase === Chat.Reading
              ? qsTr("Reading the conversation… %1 %").arg(Math.round(message.chat.prefill * 100))
              : message.chat.ahead > 0 ? qsTr("Waiting for %n answer(s) before this one…", "", message.chat.ahead)
                                       : qsTr("Waiting for the model…")
        color: Theme.faint
        font.pixelSize: Theme.body
    }
    Notice {
        objectName: "answerProblem"
        width: parent.width
        visible: message.row.problem.length > 0
        kind: "danger"
        text: message.row.problem
        closable: false
    }
    TextLabel {
        objectName: "answerNote"
        visible: message.row.note.length > 0
        width: parent.width
        text: message.row.note
        wrapMode: Text.Wrap
        color: Theme.faint
        font.pixelSize: Theme.small
        font.italic: true
    }
    Row {
        visible: !message.row.streaming
        x: -8
        spacing: 0
        TextButton {
            objectName: "copyAnswer"
            label: copied.running ? qsTr("Copied") : qsTr("Copy")
            onClicked: {
                message.chat.copy(message.row.messageId);
                copied.restart();
            }
            Timer {
                id: copied
                interval: 1500
            }
        }
        TextButton {
            objectName: "regenerateButton"
            label: qsTr("Regenerate")
            accent: message.row.last
            enabled: !message.chat.answering
            onClicked: message.chat.regenerate(message.row.messageId)
        }
        VersionSwitch {
            row: message.row
        }
        TextButton {
            objectName: "continueButton"
            visible: message.row.canContinue
            label: qsTr("Continue")
            enabled: !message.chat.answering
            onClicked: message.chat.continueAnswer(message.row.messageId)
        }
        TextButton {
            objectName: "branchButton"
            label: qsTr("Branch")
            onClicked: message.chat.branch(message.row.messageId)
        }
    }
    TextLabel {
        objectName: "statisticsLine"
        visible: text.length > 0
        width: parent.width
        text: message.row.statistics
        color: Theme.faint
        font.pixelSize: Theme.small
        wrapMode: Text.Wrap
    }
    Flow {
        objectName: "legend"
        width: parent.width
        visible: message.row.session.settings.tintOrigins && message.row.legend.length > 0
        spacing: 12
        Repeater {
            model: message.row.legend
            Row {
                id: entry
                required property var modelData
                spacing: 6
                Rectangle {
                    anchors.verticalCenter: parent.verticalCenter
                    width: 12
                    height: 12
                    radius: 3
                    color: Theme.originMarks[entry.modelData.origin]
                }
                TextLabel {
                    text: qsTr("%1 %2").arg(entry.modelData.name)
                                       .arg(Number(entry.modelData.count).toLocaleString(Qt.locale(), "f", 0))
                    color: Theme.muted
                    font.pixelSize: Theme.tiny
                    font.weight: Font.Medium
                }
            }
        }
    }
}
