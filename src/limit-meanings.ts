/** The effect of each limit that is counted when it is reached, for operators. */
export const limitMeanings = {
  maxBodyBytes: 'Larger request bodies were refused. Senders should send smaller batches.',
  maxInflatedBytes: 'Compressed bodies that decompress to more were refused.',
  maxJsonBodyBytes: 'Larger JSON bodies were refused.',
  maxBodyRecords: 'Bodies with more records were refused. Senders should send smaller batches.',
  maxBulkItems: 'Bodies of `_bulk` with more items were refused. Senders should send smaller batches.',
  maxSplunkChannels: 'Splunk channels that were unused for longest were removed.',
  maxSplunkChannelsPerPrincipal: 'Channels of one Splunk shipper that were unused for longest were removed.',
  maxBodySightings: 'Records that mention more hosts in one body were rejected, each by name.',
  maxLinkBytesPerMs:
    'Byte counts that no link can carry during their connection were left out of sums and charts.',
  maxIngestInFlightBytes: 'Senders were asked to retry later, because too many bytes were being ingested.',
  maxIngestShareOfPrincipal: 'One sender used its whole share of the ingest memory and had to wait.',
  maxQueuedBodies: 'Senders were asked to retry later, because too many bodies waited for an ingest thread.',
  maxRpcInFlightBytes: 'Calls were refused for a moment, because a thread was busy.',
  maxQueuedQueries: 'Queries were refused for a moment, because too many were waiting.',
  maxQueryShareOfPrincipal:
    'Further queries of one principal were refused, because it had its share of them waiting.',
  maxAlertHistory: 'The oldest automatic records of alert histories were removed.',
  maxBulkAlerts: 'Bulk changes of more alerts were refused. Use a narrower filter.',
  maxBulkChanges: 'Bulk changes were refused while others were running.',
  maxCompressions: 'Answers were sent uncompressed while others were being compressed.',
  maxExports: 'Exports were refused while others were running.',
  maxExportsPerPrincipal: 'Further exports of one principal were refused.',
  maxAlertGroups: 'There were too many groups of alerts to list each of them.',
  maxValueTallyBytes: 'There were too many distinct values to count each of them.',
  maxEntriesPageBytes: 'Pages of log entries were refused because of their size. Request fewer entries.',
  maxOutboxRows: 'Changes that must be logged were refused, because the transparency log did not keep up.',
  maxReceipts: 'Requests for a receipt were refused, because no stored receipt is in the log yet.',
  minFreeDiskBytes: 'Events were refused, because the disk is full.',
  maxSockets: 'WebSocket connections were refused, because there were too many.',
  maxSubscriptionsPerSocket: 'Subscriptions beyond the limit of one WebSocket were refused.',
  maxSubscriptions: 'Subscriptions were refused, because there were too many.',
  maxUnauthenticatedSockets:
    'Unauthenticated WebSockets were refused, because too many had not sent credentials yet.',
  maxSocketMessagesPerS: 'A WebSocket client sent messages too quickly and was disconnected.',
  maxWaitingSocketMessages:
    'A WebSocket client sent too many messages before it was authenticated and was disconnected.',
  maxLiveMatchMsPerS:
    'Filters of subscriptions used their CPU budget, so that some subscribers received events a moment later.',
  socketCloseGraceMs: 'WebSocket clients that did not read their last messages were disconnected.',
  maxSocketMessageBytes: 'WebSocket clients that sent longer messages were disconnected.',
  maxSocketBacklogBytes: 'Slow subscribers missed messages. They received `lagged` and can request a replay.',
  maxTotalSocketBacklogBytes:
    'All subscribers together were too slow and missed messages. They received `lagged` and can request a replay.',
  socketAuthTimeoutMs: 'WebSocket clients that did not authenticate in time were disconnected.',
  maxLoginFailuresPerMinute: 'Logins were refused for a minute after too many failures.',
  auditFailuresPerMinute: 'Failed calls were counted in one audit record instead of a record each.',
  auditSuccessesPerMinute: 'Calls of one caller were counted in one audit record instead of a record each.',
  auditFailuresBurst:
    'Failed calls of all callers were counted in one audit record instead of a record each.',
  maxAuditStrangers: 'Calls from too many unknown addresses were counted together in the audit log.',
  maxQueuedAuditRecords: 'Audit records that could not be written in time were counted instead.',
  maxTokenUses: 'The time of last use was not recorded for some tokens.',
  maxAuditRecords: 'The oldest audit records were removed.',
  maxPasswordChecksInFlight:
    'Logins were refused for a moment, because too many passwords were being checked.',
  maxJsonInFlightBytes: 'Calls were refused for a moment, because their bodies together were too large.',
  maxJsonInFlightBytesPerPrincipal:
    'Calls of one principal were refused, because its bodies together were too large.',
  maxPublicJsonBodyBytes: 'Larger bodies of unauthenticated callers were refused.',
  maxPublicJsonInFlightBytes:
    'Unauthenticated calls were refused for a moment, because their bodies together were too large.',
  maxIntelBodyBytes: 'Larger lists of indicators were refused.',
  maxIntelInFlightBytes: 'Lists of indicators were refused while others were being read.',
  maxRequestsInFlight: 'Requests were refused for a moment, because too many were in progress.',
  maxRequestsInFlightPerPrincipal:
    'Requests of one principal were refused, because it had too many in progress.',
  maxRequestsInFlightWithoutIdentity:
    'Unauthenticated requests were refused for a moment, because too many were in progress.',
  maxRequestsInFlightPerAddress:
    'Unauthenticated requests of one address were refused, because it had too many in progress.',
  maxWaitingBodiesPerAddress: 'Unauthenticated clients of one address had too many incomplete bodies.',
  maxRequestsPerSPerAddress: 'One address exceeded its request rate and had to wait.',
  maxRequestsPerSPerPrincipal: 'One principal exceeded its request rate and had to wait.',
  maxLogReadsPerSPerAddress:
    'One address exceeded the rate of public reads of the transparency log and had to wait.',
  maxConnections: 'Connections were refused, because there were too many.',
  maxConnectionsPerAddress: 'Connections of one address were refused, because it had too many.',
  maxUnsentReplyBytes:
    'The slowest readers of answers were disconnected, because too many bytes waited for them.',
  maxConsoleFiles: 'The console folder has more files than can be served.',
  maxConsoleBytes: 'The console folder has more bytes than can be served.',
  bodyTimeoutMs: 'Bodies that arrived too slowly were abandoned.',
  bodyTimeoutWithoutIdentityMs: 'Bodies of unauthenticated clients that arrived too slowly were abandoned.',
  replyTimeoutMs: 'Clients that read their answers too slowly were disconnected.',
  maxQueuedPolicyChanges:
    'Changes of the policy and of principals were refused for a moment, because too many were waiting.',
  maxScanHosts: 'Scans of more addresses were refused.',
  maxScanProbes: 'Scans of more ports and addresses were refused.',
  maxScanServicesPerHost: 'A scan did not record all open ports of hosts that answer on every port.',
  maxScanBannersPerHost: 'A scan did not read all banners of hosts with many open ports.',
  maxQueuedScans: 'Scans were refused, because too many were waiting.',
  maxScansPerMinute: 'Scans were refused, because too many were started within a minute.',
  maxScans: 'The oldest scans were removed.',
  maxBindingsPerAddress: 'The oldest owners of addresses that change hands very often were combined.',
  maxSpansPerAddress:
    'Not every change of hands was followed for addresses that changed hands many times within one body.',
  maxClockLeadMs: 'Events dated ahead of the clock were evaluated by correlation rules as of their arrival.',
  maxAssets: 'Hosts were not recorded as assets, because there are too many.',
  maxAssetAddresses: 'Addresses were not assigned to assets, because there are too many.',
  maxKnownMacs: 'MAC addresses were not recorded, because there are too many.',
  maxCurrentAddresses: 'Assets with many addresses lost the ones that were unseen for longest.',
  maxAddressesPerAsset: 'Addresses were not assigned to assets that already had too many.',
  maxAssetHistory: 'The oldest automatic records of asset histories were removed.',
  maxCountedAlerts: 'Open alerts of assets with very many alerts were estimated.',
  maxServices: 'Services were not recorded, because there are too many.',
  maxServicesPerAsset: 'Services of hosts that answer on every port were not recorded.',
  maxUncountedEvents: 'Ingest was slowed, because background processing lags behind.',
  rememberedConnections:
    'Connections that are reported again may have been counted twice, because there were too many.',
  rememberedForwarders:
    'MAC addresses that may belong to gateways were forgotten, because there were too many.',
  maxMachinesPerAddress: 'Addresses had too many MAC addresses in one day to create assets for them.',
  maxTopologyEdges: 'New edges of the topology were combined by network.',
  maxTopologyHourRows: 'The oldest hours of the topology were removed.',
  maxTopologyDayRows: 'The oldest days of the topology were removed.',
  maxWaitingTopologies: 'Topology requests were refused for a moment, because too many were waiting.',
  maxWaitingTopologiesPerPrincipal:
    'Topology requests of one principal were refused, because it had too many waiting.',
  maxCorrelationGroups:
    'Correlation rules dropped the groups that were inactive for longest: slow activity may be missed.',
  maxCorrelationDelay: 'Events arrived too late to be evaluated by correlation rules.',
  maxHeardNames: 'Assets with many names lost the least trusted ones.',
  maxNmapOutputBytes: 'An nmap scan was abandoned, because its output was too large.',
  maxBodyFindings: 'Findings beyond the limit of one body were dropped; its events were stored.',
  maxBodyFacts: 'Matches beyond the limit of one body did not reach correlation rules.',
  maxDetectorKeys:
    'Behaviour detectors dropped the hosts, pairs or names that were inactive for longest: slow activity may be missed.',
  maxBehaviourDelay: 'Events arrived too late to be evaluated by behaviour detectors.',
  maxQueuedRuleTasks:
    'Tests and validations of rules were refused for a moment, because too many were waiting.',
  maxRuleTasksPerPrincipal:
    'Tests and validations of rules of one principal were refused, because it had too many waiting.',
  maxTriageTallies: 'The triage forgot verdicts on the rules and addresses that were judged longest ago.',
  maxTriageQueue: 'Alerts were not sent to the triage endpoint and keep the local verdict.',
} as const;
