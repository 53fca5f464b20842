import { eve, type Samples, server, times, zeek } from '../records.ts';

const share = (path: string) => zeek('smb_mapping', { 'id.resp_h': server, path });
const file = (path: string, name: string, n = 0, action = 'SMB::FILE_OPEN') =>
  zeek('smb_files', { 'id.resp_h': server, path, name, action }, n);
const renamed = (name: string, n = 0) => file('\\\\file\\team', name, n, 'SMB::FILE_RENAME');

export default {
  'Admin share access (ADMIN$, C$)': {
    matches: [[share('\\\\pc-101\\ADMIN$')], [share('\\\\10.20.0.20\\c$')]],
    spares: [[share('\\\\pc-101\\IPC$')], [share('\\\\file\\team')], [share('\\\\file\\abc$')]],
  },
  'Executable written to an admin share (ADMIN$, C$)': {
    matches: [[file('\\\\pc-101\\ADMIN$', 'tool.exe')], [file('\\\\pc-101\\C$', 'Users\\Public\\run.PS1')]],
    spares: [
      [file('\\\\file\\software', 'setup.exe')],
      [file('\\\\pc-101\\C$', 'notes.txt')],
      [file('\\\\pc-101\\IPC$', 'x.exe')],
    ],
  },
  PsExec: {
    matches: [[file('\\\\pc-101\\ADMIN$', 'PSEXESVC.exe')], [file('\\\\pc-101\\IPC$', 'RemCom_communicaton')]],
    spares: [[file('\\\\pc-101\\IPC$', 'svcctl')], [file('\\\\file\\team', 'psexec.txt')]],
  },
  'PsExec (Suricata)': {
    matches: [[eve('smb', { smb: { command: 'SMB2_COMMAND_CREATE', filename: 'PSEXESVC.exe' } })]],
    spares: [[eve('smb', { smb: { command: 'SMB2_COMMAND_CREATE', filename: 'svcctl' } })]],
  },
  'SMBv1 in use': {
    matches: [[eve('smb', { smb: { dialect: 'NT LM 0.12' } })]],
    spares: [[eve('smb', { smb: { dialect: '3.11' } })], [eve('smb', { smb: { client_dialects: ['NT LM 0.12'] } })]],
  },
  'Credential file access (NTDS.dit, SAM, LSASS dump)': {
    matches: [
      [file('\\\\dc1\\C$', 'Windows\\NTDS\\ntds.dit')],
      [file('\\\\pc-101\\C$', 'Windows\\System32\\config\\SAM')],
    ],
    spares: [[file('\\\\file\\team', 'contents.txt')], [file('\\\\pc-101\\C$', 'Games\\Sam')]],
  },
  'File renamed over SMB': {
    matches: [[renamed('a.docx')]],
    spares: [[file('\\\\file\\team', 'a.docx')]],
  },
  'Ransomware-like mass rename over SMB': {
    matches: [times(200, (n) => renamed(`a${n}.docx`, n))],
    spares: [
      times(199, (n) => renamed(`a${n}.docx`, n)),
      times(400, (n) => renamed('a.docx', n)),
      times(300, (n) => renamed(`a${n}.docx`, n * 2)),
    ],
  },
} satisfies Samples;
