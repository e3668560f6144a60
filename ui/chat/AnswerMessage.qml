// What the model wrote, what became of it, what can be done with it, and what it cost.
pragma ComponentBehavior: Bound

import QtQuick
import Tandem.Controls
import Tandem.Markdown
import Tandem.Models
import Tandem.Theme

Column {
    id: view

    required property MessageCell row
    readonly property Chat chat: row.session.chat

    spacing: 8

    MessageBody {
        objectName: "answerBody"
        width: parent.width
        visible: implicitHeight > 0
        message: view.row.body
        colors: view.row.palette
        textSize: Theme.body
        showOrigins: view.row.session.settings.tintOrigins
        onCopyRequested: text => view.row.session.copyText(text)
        onLinkActivated: url => view.row.linkActivated(url)
    }
    TextLabel {
        objectName: "answerPhase"
        visible: view.row.streaming && view.chat.phase !== Chat.Writing
        text: view.chat.phase === Chat.Reading
              ? qsTr("Reading the conversation… %1 %").arg(Math.round(view.chat.prefill * 100))
              : view.chat.ahead > 0 ? qsTr("Waiting, %1 before this one…").arg(view.chat.ahead)
                                       : qsTr("Waiting for the model…")
        color: Theme.faint
        font.pixelSize: Theme.body
    }
    Notice {
        objectName: "answerProblem"
        width: parent.width
        visible: view.row.problem.length > 0
        kind: "danger"
        text: view.row.problem
        closable: false
    }
    TextLabel {
        objectName: "answerNote"
        visible: view.row.note.length > 0
        width: parent.width
        text: view.row.note
        wrapMode: Text.Wrap
        color: Theme.faint
        font.pixelSize: Theme.small
        font.italic: true
    }
    Row {
        visible: !view.row.streaming
        x: -8
        spacing: 0
        TextButton {
            objectName: "copyAnswer"
            label: copied.running ? qsTr("Copied") : qsTr("Copy")
            onClicked: {
                view.chat.copy(view.row.messageId);
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
            accent: view.row.last
            enabled: !view.chat.answering
            onClicked: view.chat.regenerate(view.row.messageId)
        }
        VersionSwitch {
            row: view.row
        }
        TextButton {
            objectName: "continueButton"
            visible: view.row.canContinue
            label: qsTr("Continue")
            enabled: !view.chat.answering
            onClicked: view.chat.continueAnswer(view.row.messageId)
        }
        TextButton {
            objectName: "branchButton"
            label: qsTr("Branch")
            onClicked: view.chat.branch(view.row.messageId)
        }
    }
    TextLabel {
        objectName: "statisticsLine"
        visible: text.length > 0
        width: parent.width
        text: view.row.statistics
        color: Theme.faint
        font.pixelSize: Theme.small
        wrapMode: Text.Wrap
    }
    Flow {
        objectName: "legend"
        width: parent.width
        visible: !view.row.streaming && view.row.session.settings.tintOrigins && view.row.legend.length > 0
        spacing: 12
        Repeater {
            model: view.row.legend
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
