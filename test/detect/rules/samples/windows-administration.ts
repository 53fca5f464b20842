import { type Samples, server, times, zeek } from '../records.ts';

const call = (endpoint: string, operation: string, n = 0, to = server) =>
  zeek('dce_rpc', { endpoint, operation, 'id.resp_h': to, 'id.resp_p': 445 }, n);

export default {
  'Service made on another Windows machine': {
    matches: [[call('svcctl', 'CreateServiceW')], [call('svcctl', 'RCreateServiceWOW64W')]],
    spares: [[call('svcctl', 'OpenServiceW')], [call('samr', 'CreateServiceW')]],
  },
  'Task scheduled on another Windows machine': {
    matches: [[call('ITaskSchedulerService', 'SchRpcRegisterTask')], [call('atsvc', 'NetrJobAdd')]],
    spares: [[call('ITaskSchedulerService', 'SchRpcEnumTasks')], [call('atsvc', 'NetrJobEnum')]],
  },
  'Registry of another Windows machine saved': {
    matches: [[call('winreg', 'BaseRegSaveKey')]],
    spares: [[call('winreg', 'BaseRegQueryValue')], [call('samr', 'BaseRegSaveKey')]],
  },
  'Replication of a Windows domain': {
    matches: [[call('drsuapi', 'DRSGetNCChanges')]],
    spares: [[call('drsuapi', 'DRSBind')]],
  },
  'Names looked up in the directory of a Windows domain': {
    matches: [[call('drsuapi', 'DRSCrackNames')]],
    spares: [[call('drsuapi', 'DRSUnbind')]],
  },
  'Passwords of a Windows domain fetched by replication': {
    matches: [[call('drsuapi', 'DRSCrackNames'), call('drsuapi', 'DRSGetNCChanges', 2)]],
    spares: [
      times(50, (n) => call('drsuapi', 'DRSGetNCChanges', n)),
      times(50, (n) => call('drsuapi', 'DRSCrackNames', n)),
      [call('drsuapi', 'DRSCrackNames'), call('drsuapi', 'DRSGetNCChanges', 120)],
      [call('drsuapi', 'DRSCrackNames'), call('drsuapi', 'DRSGetNCChanges', 2, '10.20.0.11')],
    ],
  },
  'Windows machine made to sign in elsewhere': {
    matches: [
      [call('efsrpc', 'EfsRpcOpenFileRaw')],
      [call('spoolss', 'RpcRemoteFindFirstPrinterChangeNotificationEx')],
    ],
    spares: [[call('spoolss', 'RpcOpenPrinter')], [call('srvsvc', 'NetrShareEnum')]],
  },
  'Challenge of a Windows domain controller': {
    matches: [[call('netlogon', 'NetrServerReqChallenge')]],
    spares: [[call('netlogon', 'NetrLogonSamLogonEx')]],
  },
  'Guessing of the key of a Windows domain controller': {
    matches: [times(100, (n) => call('netlogon', 'NetrServerReqChallenge', n / 2))],
    spares: [
      times(99, (n) => call('netlogon', 'NetrServerReqChallenge', n / 2)),
      times(200, (n) => call('netlogon', 'NetrServerReqChallenge', n * 2)),
    ],
  },
  'Shares of a Windows machine listed': {
    matches: [[call('srvsvc', 'NetrShareEnum')]],
    spares: [[call('srvsvc', 'NetrServerGetInfo')]],
  },
  'Shares of many Windows machines listed': {
    matches: [times(10, (n) => call('srvsvc', 'NetrShareEnum', n, `10.20.16.${n}`))],
    spares: [
      times(40, (n) => call('srvsvc', 'NetrShareEnum', n, `10.20.16.${n % 9}`)),
      times(10, (n) => call('srvsvc', 'NetrShareEnum', n * 100, `10.20.16.${n}`)),
    ],
  },
  'Event log of another Windows machine cleared': {
    matches: [[call('eventlog', 'ElfrClearELFW')], [call('IEventService', 'EvtRpcClearLog')]],
    spares: [[call('eventlog', 'ElfrReadELW')]],
  },
} satisfies Samples;
