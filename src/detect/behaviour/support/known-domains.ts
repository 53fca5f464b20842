/**
 * Registered domains with many generated names in regular use. These are domains of clouds and content networks, and of
 * services that answer queries about files, senders and addresses over DNS. Only the owners can delegate name servers
 * below these domains, so no tunnel can use these domains.
 */
export const knownDomains: readonly string[] = [
  // Content networks and clouds.
  `
    akadns.net akagtm.org akahost.net akamai.net akamaiedge.net akamaihd.net akamaized.net akamaitech.net
    edgekey.net edgesuite.net amazonaws.com amazonaws.com.cn awsdns.com cloudfront.net
    awsglobalaccelerator.com azure.com azure.net azureedge.net azurefd.net azurewebsites.net windows.net
    trafficmanager.net microsoft.com msedge.net office.com office.net office365.com sharepoint.com skype.com
    live.com cloudapp.net 1e100.net google.com googleapis.com googlesyndication.com googleusercontent.com
    googlevideo.com gstatic.com gvt1.com gvt2.com doubleclick.net fbcdn.net facebook.com apple.com
    icloud.com icloud-content.com aaplimg.com cdn-apple.com fastly.net fastlylb.net
    cloudflare.com cloudflare.net cdn77.org b-cdn.net nflxvideo.net nflxso.net
    ntp.org oraclecloud.com digitalocean.com digitaloceanspaces.com`,
  // Reputation services of security products, queried for files and addresses.
  `
    sophosxl.net mcafee.com trellix.com e5.sk eset.com esetsoftware.com trendmicro.com
    symantec.com norton.com kaspersky.com kaspersky-labs.com avast.com avg.com avcdn.net bitdefender.net
    bitdefender.com webroot.com webrootcloudav.com f-secure.com fortinet.net fortiguard.com cymru.com
    barracudabrts.com barracudanetworks.com opendns.com umbrella.com dnsfilter.com zscaler.net`,
  // Block lists queried by mail servers.
  `
    spamhaus.org spamhaus.net spamcop.net surbl.org uribl.com barracudacentral.org senderscore.com
    dnswl.org mailspike.net uceprotect.net spameatingmonkey.net isipp.com`,
].flatMap((domains) => domains.trim().split(/\s+/));
