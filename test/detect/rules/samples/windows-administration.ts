import { type Samples, server, times, zeek } from '../records.ts';

const call = (endpoint: string, operation: string, n = 0, to = server) =>
  zeek('dce_rpc', { endpoint, operation, 'id.resp_h': to, 'id.resp_p': 445 }, n);

export default {
  'Remote service creation (PsExec-style)': {
    matches: [[call('svcctl', 'CreateServiceW')], [call('svcctl', 'RCreateServiceWOW64W')]],
    spares: [[call('svcctl', 'OpenServiceW')], [call('samr', 'CreateServiceW')]],
  },
  'Remote scheduled task': {
    matches: [[call('ITaskSchedulerService', 'SchRpcRegisterTask')], [call('atsvc', 'NetrJobAdd')]],
    spares: [[call('ITaskSchedulerService', 'SchRpcEnumTasks')], [call('atsvc', 'NetrJobEnum')]],
  },
  'Remote registry hive dump': {
    matches: [[call('winreg', 'BaseRegSaveKey')]],
    spares: [[call('winreg', 'BaseRegQueryValue')], [call('samr', 'BaseRegSaveKey')]],
  },
  'Directory replication request': {
    matches: [[call('drsuapi', 'DRSGetNCChanges')]],
    spares: [[call('drsuapi', 'DRSBind')]],
  },
  'Directory name translation': {
    matches: [[call('drsuapi', 'DRSCrackNames')]],
    spares: [[call('drsuapi', 'DRSUnbind')]],
  },
  DCSync: {
    matches: [[call('drsuapi', 'DRSCrackNames'), call('drsuapi', 'DRSGetNCChanges', 2)]],
    spares: [
      times(50, (n) => call('drsuapi', 'DRSGetNCChanges', n)),
      times(50, (n) => call('drsuapi', 'DRSCrackNames', n)),
      [call('drsuapi', 'DRSCrackNames'), call('drsuapi', 'DRSGetNCChanges', 120)],
      [call('drsuapi', 'DRSCrackNames'), call('drsuapi', 'DRSGetNCChanges', 2, '10.20.0.11')],
    ],
  },
  'Coerced authentication (PetitPotam / PrinterBug)': {
    matches: [
      [call('efsrpc', 'EfsRpcOpenFileRaw')],
      [call('spoolss', 'RpcRemoteFindFirstPrinterChangeNotificationEx')],
    ],
    spares: [[call('spoolss', 'RpcOpenPrinter')], [call('srvsvc', 'NetrShareEnum')]],
  },
  'Netlogon challenge': {
    matches: [[call('netlogon', 'NetrServerReqChallenge')]],
    spares: [[call('netlogon', 'NetrLogonSamLogonEx')]],
  },
  'Zerologon exploitation attempt (CVE-2020-1472)': {
    matches: [times(100, (n) => call('netlogon', 'NetrServerReqChallenge', n / 2))],
    spares: [
      times(99, (n) => call('netlogon', 'NetrServerReqChallenge', n / 2)),
      times(200, (n) => call('netlogon', 'NetrServerReqChallenge', n * 2)),
    ],
  },
  'SMB shares listed': {
    matches: [[call('srvsvc', 'NetrShareEnum')]],
    spares: [[call('srvsvc', 'NetrServerGetInfo')]],
  },
  'SMB share enumeration': {
    matches: [times(10, (n) => call('srvsvc', 'NetrShareEnum', n, `10.20.16.${n}`))],
    spares: [
      times(40, (n) => call('srvsvc', 'NetrShareEnum', n, `10.20.16.${n % 9}`)),
      times(10, (n) => call('srvsvc', 'NetrShareEnum', n * 100, `10.20.16.${n}`)),
    ],
  },
  'Remote event log clearing': {
    matches: [[call('eventlog', 'ElfrClearELFW')], [call('IEventService', 'EvtRpcClearLog')]],
    spares: [[call('eventlog', 'ElfrReadELW')]],
  },
} satisfies Samples;
