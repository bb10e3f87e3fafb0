// The commands longpole.NAME: those of the palette and menus, and those that links and rows of lists call.

/** They are refused where the workspace is not trusted. */
export const runsPrograms: readonly CommandName[] = ['record', 'recordOther', 'recordExample', 'chooseTarget'];

export type CommandName = (typeof commandNames)[number];

export const commandNames = [
  'record',
  'recordOther',
  'recordExample',
  'chooseTarget',
  'openRecording',
  'showOverview',
  'showTimeline',
  'showLineInTimeline',
  'showThreadInTimeline',
  'goToThreadOrigin',
  'goToThreadFunction',
  'whatIf',
  'takeBackWhatIf',
  'showOnlyThreads',
  'showOnlyThread',
  'showAllThreads',
  'setMachine',
  'findBinding',
  'setScheduler',
  'setCpuCount',
  'toggleAnnotations',
  'clear',
  'restartDaemon',
  'openKept',
  'renameRecording',
  'compareRecording',
  'deleteRecording',
  'collectDiagnostics',
  'showLog',
  'goToLine',
  'goToHottestLine',
] as const;
