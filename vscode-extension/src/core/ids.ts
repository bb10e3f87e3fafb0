// Names by which the editor, its manifest and its storage know what is ours.

export const recordingViewType = 'longpole.recording';
export const timelineViewId = 'longpole.timeline';
export const taskType = 'longpole';
/** In the workspace's storage: the path of the recording that is shown, for the next time the window opens. */
export const shownKey = 'longpole.shownRecording';
