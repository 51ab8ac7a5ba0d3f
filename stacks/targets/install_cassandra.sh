# The rest of a Cassandra target's user data; the lines before it name what differs between runs.
# No way to the internet is needed: packages come from Amazon Linux's own repository and the
# archive from S3, both through the VPC's S3 gateway, and the wait condition's answer goes to S3.

answer() { # SUCCESS or FAILURE, and a reason: the stack's creation waits for it
  curl --silent --show-error --fail --retry 5 -X PUT -H 'Content-Type:' \
    --data "{\"Status\": \"$1\", \"Reason\": \"$2\", \"UniqueId\": \"cassandra\", \"Data\": \"\"}" \
    "$ANSWER_TO"
}
trap 'answer FAILURE "line $LINENO of the user data failed"' ERR

# the very last resort: the instance ends itself, which terminates it and deletes its volumes
expiry="${EXPIRES_AT%Z} UTC" # systemd 252 knows UTC by this name alone
systemd-run --quiet --on-calendar="${expiry/T/ }" systemctl poweroff

dnf install --quiet --assumeyes java-17-amazon-corretto-headless xfsprogs mdadm

# --- the volume ---
root_disk="/dev/$(lsblk --noheadings --output PKNAME "$(findmnt --noheadings --output SOURCE /)" | head -1)"
disks() { # all but the root's; with `nvme` the instance store's alone, else EBS's alone
  lsblk --nodeps --paths --noheadings --output NAME,TYPE,MODEL |
    awk -v root="$root_disk" -v store="$1" \
      '$2 == "disk" && $1 != root && (/Instance Storage/ ? store == "nvme" : store != "nvme") {print $1}'
}
for _ in {1..60}; do
  mapfile -t found < <(disks "$STORAGE_TYPE")
  [ "${#found[@]}" -gt 0 ] && break
  sleep 2
done
if [ "${#found[@]}" -eq 0 ]; then
  answer FAILURE "the instance has no $STORAGE_TYPE volume"
  exit 1
fi
device="${found[0]}"
if [ "${#found[@]}" -gt 1 ]; then # several disks of an instance store: one volume of all
  device=/dev/md0
  mdadm --create "$device" --run --level 0 --raid-devices "${#found[@]}" "${found[@]}"
fi
blkid "$device" >/dev/null || mkfs.xfs -q -f "$device" # one made from a snapshot has its data
mkdir -p /var/lib/cassandra
mount -o noatime "$device" /var/lib/cassandra
xfs_growfs /var/lib/cassandra >/dev/null # a snapshot may be of a smaller volume
blockdev --setra 8 "$device" # 4 KiB: reads are random, and read-ahead would be measured as well

# --- the machine, as Cassandra's production guide asks ---
swapoff --all
sysctl --quiet --write vm.max_map_count=1048575 vm.swappiness=1
echo defer+madvise >/sys/kernel/mm/transparent_hugepage/defrag

# --- Cassandra ---
aws s3 cp --quiet --region "$REGION" "$ARCHIVE_URL" /tmp/cassandra.tar.gz
echo "$ARCHIVE_SHA512  /tmp/cassandra.tar.gz" | sha512sum --check --quiet
mkdir -p /opt/cassandra
tar --extract --gzip --file /tmp/cassandra.tar.gz --directory /opt/cassandra --strip-components 1
useradd --system --home-dir /var/lib/cassandra cassandra
# not --ip-address: that may begin with a link-local one
address="$(hostname --all-ip-addresses | awk '{print $1}')"
conf=/opt/cassandra/conf
settings="$conf/cassandra.yaml"
# alone, its storage port stays on the loopback interface: CQL alone listens for the fleet
name=plimsoll
storage=127.0.0.1
if [ -n "$TOKEN" ]; then # one of several, with a range of the ring as long as every other's
  name="plimsoll-$RUN_ID" # no node of another run can join
  storage="$address"
  sed --in-place \
    -e "s/^num_tokens:.*/num_tokens: 1/" \
    -e "s/^endpoint_snitch:.*/endpoint_snitch: GossipingPropertyFileSnitch/" \
    -e "s/- seeds:.*/- seeds: \"${SEED:-$address}:7000\"/" "$settings"
  # there are no rows yet when it joins, so that it has none to fetch
  printf 'initial_token: "%s"\nauto_bootstrap: false\n' "$TOKEN" >>"$settings"
  printf 'dc=datacenter1\nrack=%s\n' "$RACK" >"$conf/cassandra-rackdc.properties"
  rm -f "$conf/cassandra-topology.properties" # where there is one, the snitch believes it
fi
sed --in-place \
  -e "s/^cluster_name:.*/cluster_name: $name/" \
  -e "s/^listen_address:.*/listen_address: $storage/" \
  -e "s/^rpc_address:.*/rpc_address: $address/" "$settings"
cat >>"$settings" <<SETTINGS
data_file_directories:
    - /var/lib/cassandra/data
commitlog_directory: /var/lib/cassandra/commitlog
saved_caches_directory: /var/lib/cassandra/saved_caches
hints_directory: /var/lib/cassandra/hints
SETTINGS
chown --recursive cassandra:cassandra /opt/cassandra /var/lib/cassandra
cat >/etc/systemd/system/cassandra.service <<UNIT
[Unit]
Description=Apache Cassandra, a target of Plimsoll
[Service]
User=cassandra
Environment=CASSANDRA_LOG_DIR=/opt/cassandra/logs
ExecStart=/opt/cassandra/bin/cassandra -f
LimitNOFILE=1048576
LimitNPROC=32768
LimitMEMLOCK=infinity
# a database that dies under load stays dead: that is a result
Restart=no
UNIT
systemctl daemon-reload
systemctl start cassandra

nodetool=/opt/cassandra/bin/nodetool
seen=0
ended="did not start within 300 s"
until=$((SECONDS + 300)) # nodetool itself takes seconds
while ((SECONDS < until)); do
  # those that are up and in the ring as this node sees it: itself, and all that were made before
  seen="$("$nodetool" status 2>/dev/null | awk '/^UN / {n++} END {print n + 0}')" || true
  if [ "$seen" -ge "$NODE" ] && [ "$("$nodetool" statusbinary 2>/dev/null)" = running ]; then
    answer SUCCESS "Cassandra listens"
    exit 0
  fi
  if ! systemctl is-active --quiet cassandra; then
    ended="ended while it started"
    break
  fi
  sleep 2
done
answer FAILURE "Cassandra $ended: $seen of $NODE nodes are up"
exit 1
