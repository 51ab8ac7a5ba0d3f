"""The network of load clients and targets: private subnets and security groups."""

from aws_cdk import Acknowledgment, Annotations, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_rds as rds
from constructs import Construct

from plimsoll.model.deployment.deployment import TARGET_PORTS, DeploymentConfig, ExistingVpc
from plimsoll.model.request.cassandra_target import STORAGE_PORT

HTTPS = ec2.Port.tcp(443)


class NetworkPart(Construct):
    """A VPC without a way in, and with a way out only to S3, DynamoDB and Secrets Manager.

    A target is placed in the first zone that offers its class, and the load clients of that zone
    are called, so that no network between zones is measured. Functions that only talk to targets,
    such as loaders, are in the first zone.

    Attributes:
        zones: The zones in which targets may be placed, the fleet's first.
        subnets: One subnet in each of them.
        fleet: The load clients' security group.
        target: The security group of RDS targets, without any way out.
        cassandra_target: The security group of Cassandra targets; None if the deployment has none.
    """

    def __init__(self, scope: Construct, config: DeploymentConfig) -> None:
        super().__init__(scope, "Network")
        existing = config.network.existing
        self.vpc = self._find_vpc(existing) if existing else self._create_vpc(config)
        subnets = self.vpc.isolated_subnets or self.vpc.private_subnets
        self.fleet_subnet = subnets[0]
        self.zones = [subnet.availability_zone for subnet in subnets]
        self.subnets = subnets
        self.fleet = self._group("Fleet", "Load clients of Plimsoll")
        self.target = self._group("Target", "Targets of Plimsoll: only the fleet comes in")
        self._let_fleet_in(self.target, "mysql", "postgres")
        self.cassandra_target = self._cassandra_target(existing) if config.cassandra else None
        # The addresses of the S3 and DynamoDB gateways are not known before deployment. Without an
        # internet gateway or NAT in the VPC, this rule can reach nothing else.
        self.fleet.add_egress_rule(ec2.Peer.any_ipv4(), HTTPS, "AWS's services")
        for allowed in config.allowed_endpoints:
            self.fleet.add_egress_rule(
                ec2.Peer.ipv4(str(allowed.cidr)), ec2.Port.tcp(allowed.port), allowed.host
            )
        if not existing:
            self._doors()
        self.subnet_group = rds.CfnDBSubnetGroup(
            self,
            "TargetSubnets",
            db_subnet_group_description="Where Plimsoll's RDS targets are placed",
            subnet_ids=[subnet.subnet_id for subnet in subnets],
        )

    def _create_vpc(self, config: DeploymentConfig) -> ec2.IVpc:
        zones = config.network.availability_zones
        vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(str(config.network.cidr)),
            availability_zones=list(zones) or None,
            max_azs=None if zones else 2,
            nat_gateways=0,
            create_internet_gateway=False,
            restrict_default_security_group=False,  # unused, and it lets nobody in
            subnet_configuration=[
                ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
            ],
        )
        Validations.of(vpc).acknowledge(
            Acknowledgment(
                id="AwsSolutions-VPC7",
                reason="nothing gets in or out; a flow log of a load test costs more than it tells",
            )
        )
        return vpc

    def _find_vpc(self, existing: ExistingVpc) -> ec2.IVpc:
        vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=existing.vpc_id,
            availability_zones=list(existing.availability_zones),
            isolated_subnet_ids=list(existing.subnet_ids),
        )
        Annotations.of(vpc).acknowledge_warning(
            "@aws-cdk/aws-ec2:noSubnetRouteTableId", "nothing here reads its route tables"
        )
        return vpc

    def _group(self, name: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self, name, vpc=self.vpc, description=description, allow_all_outbound=False
        )

    def _let_fleet_in(self, target: ec2.SecurityGroup, *engines: str) -> None:
        for engine in engines:
            port = ec2.Port.tcp(TARGET_PORTS[engine])
            target.add_ingress_rule(self.fleet, port, f"{engine} from the fleet")
            self.fleet.add_egress_rule(target, port, f"{engine} targets")

    def _cassandra_target(self, existing: ExistingVpc | None) -> ec2.SecurityGroup:
        """Create the security group of targets that install themselves from S3.

        A gateway endpoint is only a route: the security group still has to let the packets out. The
        id of S3's prefix list differs by region. Looking it up takes credentials at synthesis or a
        function at deployment, and in the VPC made here it would narrow nothing: without an
        internet gateway or NAT, HTTPS to any address reaches only the gateway endpoints. An
        existing VPC may have a NAT, so there the configuration names the list.
        """
        group = self._group("CassandraTarget", "Cassandra targets of Plimsoll: they reach S3")
        self._let_fleet_in(group, "cassandra")
        for rule in (group.add_ingress_rule, group.add_egress_rule):
            rule(group, ec2.Port.tcp(STORAGE_PORT), "nodes of one cluster")
        to = ec2.Peer.any_ipv4()
        if existing:
            assert existing.s3_prefix_list_id  # noqa: S101 - the configuration has been checked
            to = ec2.Peer.prefix_list(existing.s3_prefix_list_id)
        group.add_egress_rule(to, HTTPS, "S3: packages, the archive, the answer")
        return group

    def _doors(self) -> None:
        """Create endpoints of AWS's services: gateways are free, the interface costs by the hour.

        Therefore the interface endpoint is in one zone only.
        """
        for service in ("S3", "DYNAMODB"):
            self.vpc.add_gateway_endpoint(
                service.capitalize(), service=getattr(ec2.GatewayVpcEndpointAwsService, service)
            )
        door = self._group("SecretsDoor", "Secrets Manager, for the fleet")
        door.add_ingress_rule(self.fleet, HTTPS, "the fleet")
        ec2.InterfaceVpcEndpoint(
            self,
            "Secrets",
            vpc=self.vpc,
            service=ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
            subnets=ec2.SubnetSelection(subnets=[self.fleet_subnet]),
            security_groups=[door],
            open=False,
        )
